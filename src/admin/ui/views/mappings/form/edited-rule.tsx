import type { MappingNames } from '../editor/completion.ts';
import type { MarkedFault } from '../editor/draft.ts';
import { FaultTexts } from '../editor/faults.tsx';
import { faultPath, type WrittenRule, withMember } from '../rules/rules.ts';

/** A rule to be changed. */
export interface EditedRule {
  connection: string;
  index: number;
  rule: WrittenRule;
  faults: MarkedFault[];
  names: MappingNames | undefined;
  /** The names of custom fields by key. */
  fieldNames: Partial<Record<string, string>>;
  onChange: (rule: WrittenRule) => void;
}

/** The members that say what a rule sets. A rule has one of them. */
export const targets = ['userAttribute', 'customField', 'customFieldId'] as const;

/** True for the path of a member and for the paths inside it. */
export function isAt(path: string, member: string): boolean {
  return path === member || path.startsWith(`${member}.`) || path.startsWith(`${member}[`);
}

/** The faults of a member, to be shown under its field; false if there are none. */
export function faultsAt({ faults, index }: EditedRule, member: string) {
  const found = faults.filter(({ path }) => isAt(path, faultPath(index, `.${member}`)));
  return found.length > 0 && <FaultTexts faults={found} />;
}

/** Sets a member of the rule, or removes it if the value is undefined. */
export function setMember({ rule, onChange }: EditedRule, member: string, value: unknown): void {
  onChange(withMember(rule, member, value));
}

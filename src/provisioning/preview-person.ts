import type { Json } from '../schema/resource.ts';
import { expandTrace } from '../translator/trace.ts';
import type { Finding, TraceEntry, Translation, WantedField } from '../translator/translation.ts';
import { isEqualJson } from '../translator/values.ts';
import type { Connection } from './connection.ts';
import { usedNames } from './explain-fields.ts';
import type { Identity } from './identity.ts';
import { fieldNames } from './preview-mapping.ts';
import { previewIdentity, type UserPreviewDeps } from './preview-user.ts';
import type { RulesSnapshot } from './rules-snapshot.ts';

/** The result of one field for a person, beside that of the mapping in force. */
interface PreviewedField {
  field: string;
  outcome: WantedField['kind'];
  value: Json | undefined;
  /** True if the mapping in force has another result. */
  isChanged: boolean;
  inForce: Json | undefined;
}

/** The translation of one person with a mapping, compared with the mapping in force. */
export interface PersonPreview {
  userName: string;
  fields: PreviewedField[];
  trace: TraceEntry[];
  findings: Finding[];
  fallbackEmail: string | undefined;
  /** The names of custom fields by key, and of the resources that the values contain by id. */
  names: Record<string, string>;
}

/** Translates one person with a mapping and with the one in force, and compares the two. */
export async function previewPerson(
  deps: UserPreviewDeps,
  { identity, policies }: { identity: Identity } & Pick<Connection, 'policies'>,
  { inForce, next }: { inForce: RulesSnapshot; next: RulesSnapshot },
): Promise<PersonPreview> {
  const present = await previewIdentity(deps, identity, { ...inForce, policies });
  const previewed = await previewIdentity(deps, identity, { ...next, policies });
  const fields = compareFields(present, previewed);
  const trace = expandTrace(previewed.trace);
  const { findings, fallbackEmail } = previewed;
  return {
    userName: String(identity.desired.userName),
    ...{ fields, trace, findings, fallbackEmail },
    names: { ...fieldNames(inForce.lookups), ...usedNames({ fields, trace, findings }, inForce.lookups) },
  };
}

function compareFields(present: Translation, next: Translation): PreviewedField[] {
  const keys = [...new Set([...Object.keys(next.fields), ...Object.keys(present.fields)])];
  return keys.map((field) => {
    const [before, after] = [present.fields[field], next.fields[field]];
    const [inForce, value] = [resultOf(before), resultOf(after)];
    const isChanged = kindOf(before) !== kindOf(after) || !isEqualJson(inForce ?? null, value ?? null);
    return { field, outcome: kindOf(after), value, isChanged, inForce };
  });
}

function kindOf(wanted: WantedField | undefined): WantedField['kind'] {
  return wanted?.kind ?? 'absent';
}

function resultOf(wanted: WantedField | undefined) {
  return wanted?.kind === 'value' ? wanted.value : undefined;
}

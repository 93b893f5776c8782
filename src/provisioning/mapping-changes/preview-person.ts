import type { Connection } from '../../model/connection.ts';
import { type Identity, isLive, newIdentity, userNameOf } from '../../model/identity.ts';
import type { Runtime } from '../../model/runtime-ports.ts';
import type {
  Finding,
  ScopeVerdict,
  TraceEntry,
  Translation,
  UserGroup,
  WantedField,
} from '../../model/translation.ts';
import type { Json, ScimResource } from '../../schema/resource.ts';
import { isEqualJson } from '../../translator/values/values.ts';
import { usedNames } from '../people/explain-fields.ts';
import type { StoreReadDeps } from '../reconcile/run/store-reads.ts';
import { translateStored } from '../reconcile/wanted/translate-identity.ts';
import type { RulesSnapshot } from '../rules/rules-snapshot.ts';
import { readGroups, readReferences } from './mapping-effect.ts';
import { fieldNames } from './preview-mapping.ts';

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
  /** Whether the person is in the scope of the mapping. */
  scope: ScopeVerdict;
  /** The names of custom fields by key, and of the resources and managers that the values contain by id. */
  names: Record<string, string>;
}

type PreviewedPerson = Pick<Connection, 'account' | 'policies'> & {
  identity: Identity;
  /** The groups that are stated for the person; undefined: the stored ones. */
  groups: UserGroup[] | undefined;
};

/** Translates one person with a mapping and with the one in force, and compares the two. */
export async function previewPerson(
  deps: StoreReadDeps,
  { identity, groups, ...connection }: PreviewedPerson,
  { inForce, next }: { inForce: RulesSnapshot; next: RulesSnapshot },
): Promise<PersonPreview> {
  const translate = (snapshot: RulesSnapshot) =>
    previewIdentity(deps, { identity, groups }, { ...snapshot, ...connection });
  const [present, previewed] = [await translate(inForce), await translate(next)];
  const fields = compareFields(present, previewed);
  const { findings, fallbackEmail, trace, scope } = previewed;
  return {
    userName: String(identity.desired.userName),
    ...{ fields, trace, findings, fallbackEmail, scope },
    names: {
      ...fieldNames(inForce.lookups),
      ...usedNames({ fields, trace, findings }, inForce.lookups),
      ...(await readManagerNames(deps, identity, fields)),
    },
  };
}

/** The userNames of the managers, by the ids of their travelers and by their own. */
async function readManagerNames(
  { identities }: StoreReadDeps,
  { connection }: Identity,
  fields: PreviewedField[],
): Promise<Record<string, string>> {
  const { value, inForce } = fields.find(({ field }) => field === 'managerId') ?? {};
  const travelIds = [value, inForce].filter((one) => typeof one === 'string');
  const found = await Promise.all(
    travelIds.map((travelId) => identities.find(connection, { by: 'travelId', value: travelId })),
  );
  const names = found.flat().flatMap((manager) => {
    const name = userNameOf(manager);
    return [[manager.travelId ?? manager.id, name] as const, [manager.id, name] as const];
  });
  return Object.fromEntries(names);
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
  return wanted && 'value' in wanted ? wanted.value : undefined;
}

/** Translates a stored person with any rules. Nothing is written or sent. */
async function previewIdentity(
  deps: StoreReadDeps,
  { identity, groups: stated }: Pick<PreviewedPerson, 'identity' | 'groups'>,
  {
    rules,
    lookups,
    ...connection
  }: Pick<RulesSnapshot, 'rules' | 'lookups'> & Pick<Connection, 'account' | 'policies'>,
): Promise<Translation> {
  const references = await readReferences(deps, identity, { rules, ...connection });
  const groups = await readGroups(deps, identity, { rules, ...connection });
  const read = { references, ...groups, ...(stated && { groups: stated }) };
  return translateStored({ rules, lookups }, identity, read);
}

/** Returns the identity that a connection would have for a user that is not stored: managers are found as for a person of that name. */
export async function identityForPreview(
  { identities }: Pick<StoreReadDeps, 'identities'>,
  { connection, user }: { connection: Pick<Connection, 'id'>; user: ScimResource },
  runtime: Pick<Runtime, 'now' | 'wallClock' | 'newId'>,
): Promise<Identity> {
  const fresh = newIdentity(runtime, connection, user);
  const found = await identities.find(connection.id, { by: 'userName', value: String(user.userName) });
  const known = found.find(isLive);
  return { ...fresh, id: known?.id ?? fresh.id };
}

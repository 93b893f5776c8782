const CORE = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const TRAVEL = 'urn:ietf:params:scim:schemas:extension:travel:2.0:User';

/** A user as the IdP wants it: the SCIM attributes that histories write. */
export interface WantedUser {
  userName: string;
  externalId: string;
  givenName: string;
  familyName: string;
  email: string;
  phone?: string | undefined;
  department?: string | undefined;
  title?: string | undefined;
  /** The name of the cost center. */
  costCenter?: string | undefined;
  lang?: string | undefined;
  street?: string | undefined;
  city?: string | undefined;
  roles: readonly string[];
  /** The raw reference: a SCIM id or a userName. */
  manager?: string | undefined;
  active: boolean;
}

/** The SCIM resource of a POST or a PUT. */
export function toResource(wanted: WantedUser): object {
  const { userName, externalId, givenName, familyName, email, phone, title, lang, street, city } = wanted;
  const { department, costCenter, manager, roles, active } = wanted;
  const enterprise = {
    ...withoutUndefined({ department, costCenter }),
    ...(manager ? { manager: { value: manager } } : {}),
  };
  const address = withoutUndefined({ streetAddress: street, locality: city });
  return {
    schemas: [CORE, ENTERPRISE, TRAVEL],
    userName,
    externalId,
    name: { givenName, familyName },
    emails: [{ type: 'work', primary: true, value: email }],
    ...(phone ? { phoneNumbers: [{ type: 'mobile', value: phone }] } : {}),
    ...withoutUndefined({ title, preferredLanguage: lang }),
    ...(Object.keys(address).length > 0 ? { addresses: [{ type: 'work', ...address }] } : {}),
    active,
    ...(Object.keys(enterprise).length > 0 ? { [ENTERPRISE]: enterprise } : {}),
    ...(roles.length > 0 ? { [TRAVEL]: { roles: roles.map((value) => ({ value })) } } : {}),
  };
}

/** Converts a SCIM resource back. */
// biome-ignore lint/suspicious/noExplicitAny: a SCIM answer
export function toWantedUser(resource: any): WantedUser {
  const enterprise = resource[ENTERPRISE] ?? {};
  const address = resource.addresses?.[0] ?? {};
  return {
    userName: resource.userName,
    externalId: resource.externalId,
    givenName: resource.name?.givenName,
    familyName: resource.name?.familyName,
    email: resource.emails?.[0]?.value,
    phone: resource.phoneNumbers?.[0]?.value,
    department: enterprise.department,
    costCenter: enterprise.costCenter,
    title: resource.title,
    lang: resource.preferredLanguage,
    street: address.streetAddress,
    city: address.locality,
    roles: (resource[TRAVEL]?.roles ?? []).map(({ value }: { value: string }) => value),
    manager: enterprise.manager?.value,
    active: resource.active,
  };
}

/** The PATCH that changes one wanted user into the other. */
export function toPatch(before: WantedUser, after: WantedUser): object {
  const operations: object[] = [{ op: 'replace', path: 'active', value: after.active }];
  const set = (path: string, old: unknown, value: unknown, shown: unknown = value) => {
    if (JSON.stringify(old) === JSON.stringify(value)) return;
    operations.push(value === undefined ? { op: 'remove', path } : { op: 'replace', path, value: shown });
  };
  set('externalId', before.externalId, after.externalId);
  set('userName', before.userName, after.userName);
  set('name.givenName', before.givenName, after.givenName);
  set('name.familyName', before.familyName, after.familyName);
  set('emails[type eq "work"].value', before.email, after.email);
  set('phoneNumbers[type eq "mobile"]', before.phone, after.phone, { type: 'mobile', value: after.phone });
  set(`${ENTERPRISE}:department`, before.department, after.department);
  set(`${ENTERPRISE}:costCenter`, before.costCenter, after.costCenter);
  set('title', before.title, after.title);
  set('preferredLanguage', before.lang, after.lang);
  set('addresses[type eq "work"].streetAddress', before.street, after.street);
  set('addresses[type eq "work"].locality', before.city, after.city);
  set(`${ENTERPRISE}:manager`, before.manager, after.manager, { value: after.manager });
  const roles = after.roles.length > 0 ? after.roles.map((value) => ({ value })) : undefined;
  set(
    `${TRAVEL}:roles`,
    before.roles.length > 0 ? before.roles.map((value) => ({ value })) : undefined,
    roles,
  );
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations };
}

/** True if both have the same values. */
export function isSameUser(one: WantedUser | undefined, other: WantedUser | undefined): boolean {
  return toUserLine(one) === toUserLine(other);
}

/** Formats a wanted user as one line, with sorted attributes. */
export function toUserLine(wanted: WantedUser | undefined): string {
  if (!wanted) return 'gone';
  const entries = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))));
}

function withoutUndefined<T>(values: Record<string, T | undefined>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

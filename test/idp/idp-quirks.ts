import { userService } from '../../src/provisioning/users/users.ts';
import { parseFilter } from '../../src/schema/filter-parser.ts';
import { checkRequiredAttributes, normalize } from '../../src/schema/normalize.ts';
import { type JsonObject, urns } from '../../src/schema/resource.ts';
import { resolveAttribute } from '../../src/schema/resource-types.ts';
import { normalizeSubAttributes, normalizeValue } from '../../src/schema/values.ts';
import { splitGroupPatch } from '../../src/scim/group-members.ts';
import { parseFilterParameter } from '../../src/scim/lists/filter.ts';
import { parseIndexPage } from '../../src/scim/lists/pagination.ts';
import { applyPatch, parsePatch } from '../../src/scim/patch/patch.ts';
import { changeValue } from '../../src/scim/patch/patch-values.ts';
import { serializeGroup, serializeUser } from '../../src/scim/serialize.ts';

/** One way in which an identity provider deviates from the RFCs, and how Jetbridge handles it. */
export interface IdpQuirk {
  name: string;
  sentBy: readonly string[];
  /** The rule of the RFC, with its section. */
  rfc: string;
  /** The behaviour of Jetbridge. */
  here: string;
  /** Further reasons, and further clients that do the same; undefined if the example is sufficient. */
  why?: string;
  example: QuirkExample;
  /** A file of test/idp/scenarios in which the identity provider sends such a request. */
  recording: string;
  /** The exported function that handles the quirk. Its name appears in docs/deviations.md. */
  handledBy: (...parameters: never[]) => unknown;
}

/** A request with the expected response. `{id}` in any text is replaced by the id of the resource in `given`. */
export interface QuirkExample {
  /** A resource that is created before the request. */
  given?: { path: '/Users' | '/Groups'; body: JsonObject };
  request: { method: 'GET' | 'POST' | 'PUT' | 'PATCH'; path: string; body?: JsonObject };
  /**
   * The expected status, and a part of the expected body. After a 204, the body is that of a GET with the same path.
   * Null means that the body does not contain the attribute.
   */
  response: { status: number; body: JsonObject };
}

const ada: NonNullable<QuirkExample['given']> = { path: '/Users', body: { userName: 'ada' } };

/**
 * The quirks of identity providers. `npm run docs` writes them into docs/deviations.md, and a test plays every example
 * over HTTP. Add a recording, a function and a row here for a new one.
 */
export const idpQuirks: readonly IdpQuirk[] = [
  {
    name: 'values of another JSON type',
    sentBy: ['Entra ID (older dialect)', 'OneLogin'],
    rfc: 'JSON types are strict (7643 §2.3)',
    here: '`"False"`, `"true"`, numbers instead of strings, and one-element lists instead of single values are converted to the type that the schema declares; of a longer list in a POST or PUT of a user, the first usable value counts, with a finding, except for `userName`, of which several values are 400; a cost center, organization, division or department may be an object with `value` or `name`',
    example: patchOfAda({ op: 'Replace', path: 'active', value: 'False' }, { active: false }),
    recording: 'entra-patch-active-string-false.json',
    handledBy: normalizeValue,
  },
  {
    name: 'names in another case',
    sentBy: ['Entra ID'],
    rfc: 'attribute names are case-insensitive (7643 §2.1)',
    here: 'URNs, endpoint paths, query parameters, and `op` in PATCH are case-insensitive too; an attribute may be prefixed with the URN of its core schema',
    why: 'Entra ID sends `Add` and `Replace`',
    example: patchOfAda({ op: 'Add', path: 'Title', value: 'Lead' }, { title: 'Lead' }),
    recording: 'entra-patch-legacy-add-single.json',
    handledBy: parsePatch,
  },
  {
    name: 'an empty string as a reference',
    sentBy: ['Entra ID'],
    rfc: 'null and `[]` mean unassigned (7643 §2.5)',
    here: 'an empty string unassigns a reference too',
    example: {
      given: {
        path: '/Users',
        body: { userName: 'ada', [urns.enterprise]: { manager: { value: 'm-1' } } },
      },
      request: patch('/Users/{id}', { op: 'Replace', path: `${urns.enterprise}:manager`, value: '' }),
      response: { status: 200, body: { [urns.enterprise]: null } },
    },
    recording: 'entra-manager-string.json',
    handledBy: changeValue,
  },
  {
    name: 'the manager as a list, without its URN',
    sentBy: ['Entra ID (older dialect)'],
    rfc: 'extension attributes are prefixed with the URN of the extension (7644 §3.10); `manager` is a single object (7643 §4.3)',
    here: 'the path `manager` means the attribute of the enterprise extension; the first element of a list is the value',
    example: patchOfAda(
      { op: 'Add', path: 'manager', value: [{ value: 'm-1' }] },
      { [urns.enterprise]: { manager: { value: 'm-1' } } },
    ),
    recording: 'entra-manager-legacy-array.json',
    handledBy: resolveAttribute,
  },
  {
    name: 'custom core attributes',
    sentBy: ['Okta', 'Entra ID'],
    rfc: 'not defined',
    here: 'an attribute of a user that no schema has is stored, returned, and available to mappings, like one of an unknown extension; a value that is too large is dropped. A PATCH path that is similar to a known name becomes a finding. A filter on an unknown attribute is 400 `invalidFilter`, and an unknown sub-attribute of a known one in a PATCH path 400 `invalidPath`',
    why: 'both send every attribute that they have, and some of them have no URN',
    example: {
      request: { method: 'POST', path: '/Users', body: { userName: 'ada', favoriteColor: 'blue' } },
      response: { status: 201, body: { userName: 'ada', favoriteColor: 'blue' } },
    },
    recording: 'okta-profile-update-put-echo.json',
    handledBy: normalize,
  },
  {
    name: '`password`',
    sentBy: ['Okta'],
    rfc: 'write-only (7643 §4.1.1)',
    here: 'in no schema, and dropped: never stored, logged or returned',
    why: 'Okta always sends one; travelers have none. Clients that map what `/Schemas` lists send none',
    example: {
      request: { method: 'POST', path: '/Users', body: { userName: 'ada', password: 'S3cret' } },
      response: { status: 201, body: { userName: 'ada', password: null } },
    },
    recording: 'okta-password-sync.json',
    handledBy: normalize,
  },
  {
    name: 'users without required attributes',
    sentBy: ['Okta', 'Entra ID'],
    rfc: 'attributes that `/Schemas` declares as required must be sent (7643 §7)',
    here: '`userName`, `name` and `emails` are declared as required; but only `userName` is required in a request',
    why: 'both build their mappings from `/Schemas`, and create users without a mailbox',
    example: {
      request: { method: 'POST', path: '/Users', body: { userName: 'ada' } },
      response: { status: 201, body: { userName: 'ada', emails: null } },
    },
    recording: 'entra-user-without-mailbox.json',
    handledBy: checkRequiredAttributes,
  },
  {
    name: 'PUT without `active`',
    sentBy: ['Okta'],
    rfc: 'an attribute that is missing in a PUT is cleared or set to a default (7644 §3.5.1)',
    here: '`active` keeps its value',
    why: "Okta's PUT omits it, and must not archive the traveler",
    example: {
      given: { path: '/Users', body: { userName: 'ada', active: false } },
      request: { method: 'PUT', path: '/Users/{id}', body: { userName: 'ada', title: 'Lead' } },
      response: { status: 200, body: { title: 'Lead', active: false } },
    },
    recording: 'entra-postman-put-and-filters.json',
    handledBy: userService,
  },
  {
    name: 'comparison of returned values',
    sentBy: ['Entra ID', 'Okta'],
    rfc: 'the server may change values before it stores them',
    here: 'values are returned exactly as they were sent, even if the travel service has another value or none',
    why: 'both compare the returned value literally, and would otherwise send the same change forever',
    example: patchOfAda(
      { op: 'Replace', path: 'phoneNumbers[type eq "mobile"].value', value: 'tel:+33-6-12-34-56-78' },
      { phoneNumbers: [{ type: 'mobile', value: 'tel:+33-6-12-34-56-78' }] },
    ),
    recording: 'entra-phone-variants.json',
    handledBy: serializeUser,
  },
  {
    name: '`manager.managerId`',
    sentBy: ['OneLogin'],
    rfc: 'the sub-attributes of a manager are `value`, `$ref` and `displayName` (7643 §4.3)',
    here: '`managerId`, the name of SCIM 1.1, means `value`, unless there is one',
    example: {
      request: {
        ...{ method: 'POST', path: '/Users' },
        body: { userName: 'ada', [urns.enterprise]: { manager: { managerId: 'm-1', displayName: 'Max' } } },
      },
      response: {
        status: 201,
        body: { [urns.enterprise]: { manager: { value: 'm-1', displayName: 'Max' } } },
      },
    },
    recording: 'onelogin-create-template.json',
    handledBy: normalizeSubAttributes,
  },
  {
    name: '`manager.displayName`',
    sentBy: ['Entra ID', 'Okta'],
    rfc: 'read-only (7643 §4.3)',
    here: 'stored and returned as it was sent',
    why: 'both compare the returned value with the one that they sent',
    example: patchOfAda(
      { op: 'replace', path: `${urns.enterprise}:manager`, value: { value: 'm-1', displayName: 'Max' } },
      { [urns.enterprise]: { manager: { value: 'm-1', displayName: 'Max' } } },
    ),
    recording: 'okta-create-default-template.json',
    handledBy: normalize,
  },
  {
    name: 'PATCH: a value filter that matches nothing',
    sentBy: ['Okta', 'Entra ID'],
    rfc: '`replace`: 400 `noTarget` (7644 §3.5.2.3)',
    here: 'if the filter compares only `type` or `primary`, the element is created',
    example: patchOfAda(
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'ada@corp.example' },
      { emails: [{ type: 'work', value: 'ada@corp.example' }] },
    ),
    recording: 'entra-patch-replace-filtered-absent.json',
    handledBy: changeValue,
  },
  {
    name: 'PATCH: `remove` with a value',
    sentBy: ['Entra ID', 'JumpCloud', 'authentik'],
    rfc: 'the value has no meaning (7644 §3.5.2.2)',
    here: 'removes only the given values from `members` and other multi-valued attributes',
    why: 'ignoring the value, as the RFC says, would empty groups',
    example: {
      given: {
        path: '/Groups',
        body: { displayName: 'Crew', members: [{ value: 'a' }, { value: 'b' }] },
      },
      request: patch('/Groups/{id}', { op: 'Remove', path: 'members', value: [{ value: 'a' }] }),
      response: { status: 200, body: { members: [{ value: 'b' }] } },
    },
    recording: 'jumpcloud-group-members.json',
    handledBy: splitGroupPatch,
  },
  {
    name: 'PATCH: operations without a path',
    sentBy: ['Entra ID (flag `aadOptscim062020`)', 'SCIM validators'],
    rfc: 'the keys of the value are attributes (7644 §3.5.2.1)',
    here: 'keys may also be dotted names, names with a URN, and value filters',
    example: patchOfAda(
      { op: 'replace', value: { 'name.givenName': 'Ada', [`${urns.enterprise}:department`]: 'Research' } },
      { name: { givenName: 'Ada' }, [urns.enterprise]: { department: 'Research' } },
    ),
    recording: 'entra-patch-optscim-pathless-dotted.json',
    handledBy: applyPatch,
  },
  {
    name: '`type` and `$ref` of a member',
    sentBy: ['Entra ID', 'Keycloak'],
    rfc: '`type` is the type of the resource with the id in `value`, `$ref` its URL (7643 §4.2)',
    here: 'both are derived from that resource, and the values of the client are ignored. An id without a user or group in the connection is stored with the `type` that the client sent, and without `$ref`',
    why: 'clients send members of every kind with `type: "User"` or without a type, and compare `value`',
    example: {
      given: ada,
      request: {
        method: 'POST',
        path: '/Groups',
        body: { displayName: 'Crew', members: [{ value: '{id}', type: 'Group', $ref: 'Groups/{id}' }] },
      },
      response: { status: 201, body: { members: [{ value: '{id}', type: 'User' }] } },
    },
    recording: 'keycloak-group-sync.json',
    handledBy: serializeGroup,
  },
  {
    name: 'filters: a sub-attribute after a value filter',
    sentBy: ['Entra ID'],
    rfc: 'not in the grammar of filters (7644 §3.4.2.2)',
    here: '`emails[type eq "work"].value eq "x"` compares the sub-attribute of the selected values',
    example: {
      given: {
        path: '/Users',
        body: { userName: 'ada', emails: [{ value: 'ada@corp.example', type: 'work' }] },
      },
      request: {
        method: 'GET',
        path: '/Users?filter=emails[type eq "work"].value eq "ada@corp.example"',
      },
      response: { status: 200, body: { totalResults: 1, Resources: [{ userName: 'ada' }] } },
    },
    recording: 'entra-match-preexisting-travel-user.json',
    handledBy: parseFilterParameter,
  },
  {
    name: 'filters: a text without quotes',
    sentBy: ['authentik'],
    rfc: 'texts have quotes (7644 §3.4.2.2)',
    here: 'after `eq`, `sw`, `co` and `ew`, a word of letters, digits and `_ . @ + -` without quotes is a text, unless it is true, false, null, a number, `and`, `or` or `not`; so is a number or a date after these, `gt`, `ge`, `lt` and `le`; an empty `filter` is 400',
    example: {
      given: ada,
      request: { method: 'GET', path: '/Users?filter=userName eq ada' },
      response: { status: 200, body: { totalResults: 1, Resources: [{ userName: 'ada' }] } },
    },
    recording: 'authentik-unquoted-filter.json',
    handledBy: parseFilter,
  },
  {
    name: 'empty parameters',
    sentBy: ['scimgateway'],
    rfc: '`startIndex` and `count` are integers (7644 §3.4.2.4), `attributes` and `excludedAttributes` lists of names (7644 §3.9)',
    here: 'without a value, as in `startIndex=&count=&attributes=`, each counts as absent; other text is 400 where an integer is expected',
    example: {
      given: ada,
      request: { method: 'GET', path: '/Users?startIndex=&count=&attributes=' },
      response: {
        status: 200,
        body: { totalResults: 1, startIndex: 1, Resources: [{ userName: 'ada', active: true }] },
      },
    },
    recording: 'scimgateway-search-create-disable.json',
    handledBy: parseIndexPage,
  },
  {
    name: 'groups without members, and the answer to their PATCH',
    sentBy: ['idp-scim-sync', 'ssosync', 'Nextcloud'],
    rfc: 'an attribute without a value may be left out (7643 §2.5); a PATCH is answered with 200 or 204 (7644 §3.5.2)',
    here: 'a group without members has `members: []`; a PATCH is answered with 200 and the group if it has at most 1,000 members or the request has `attributes`, else with 204',
    why: 'these clients parse the body of every answer and compare the list of members',
    example: {
      given: { path: '/Groups', body: { displayName: 'Crew', members: [{ value: 'a' }] } },
      request: patch('/Groups/{id}', { op: 'remove', path: 'members' }),
      response: { status: 200, body: { displayName: 'Crew', members: [] } },
    },
    recording: 'idp-scim-sync-group-diff.json',
    handledBy: serializeGroup,
  },
];

/**
 * Returns the example of a PATCH: a user who only has a userName, one operation, and attributes that the response must
 * contain.
 */
function patchOfAda(operation: JsonObject, body: JsonObject): QuirkExample {
  return { given: ada, request: patch('/Users/{id}', operation), response: { status: 200, body } };
}

function patch(path: string, operation: JsonObject): QuirkExample['request'] {
  const schemas = ['urn:ietf:params:scim:api:messages:2.0:PatchOp'];
  return { method: 'PATCH', path, body: { schemas, Operations: [operation] } };
}

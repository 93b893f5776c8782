import { setImmediate } from 'node:timers/promises';
import type { GroupView } from '../bridge/groups.ts';
import type { ResolvedMember } from '../bridge/ports.ts';
import type { UserView } from '../bridge/user-list.ts';
import { type JsonObject, urns } from '../schema/resource.ts';
import { groupType, userType } from '../schema/resource-type.ts';
import { etagOf } from './conditions.ts';
import type { Answer } from './endpoint.ts';
import type { JsonText } from './json-text.ts';
import { locationOf, MEMBERS_AT_ONCE, membershipOf, presentGroup, presentUser } from './present.ts';
import { everything, type Projection } from './projection.ts';

/** A user as it is answered. */
export function answerUser(view: UserView, base: string, projection: Projection): Answer {
  const location = locationOf(userType, view.id, base);
  return { location, version: view.version, json: userJson(view, base, projection) };
}

/** A group as it is answered, with what `attributes` and `excludedAttributes` leave of it. */
export function answerGroup(view: GroupView, base: string, projection: Projection): Answer {
  const location = locationOf(groupType, view.id, base);
  return { location, version: view.version, json: groupJson(view, base, projection) };
}

/**
 * A user as JSON text, with what `attributes` and `excludedAttributes` leave of it. What is kept is text: to parse it in
 * order to print it again would cost most of the answer, so what is ours to say is put around it.
 */
export function userJson(view: UserView, base: string, projection: Projection): string {
  const said = projection === everything ? saidOf(view) : undefined;
  if (!said) return JSON.stringify(projection.apply(presentUser(view, base)));
  const { groups } = view;
  const membership =
    groups.length === 0 ? '' : `,"groups":[${groups.map((one) => membershipJson(one, base)).join(',')}]`;
  const own = `${inner(said.desired)}${membership}`;
  return `{"schemas":[${userUrn}${inner(said.extensions)}],"id":${JSON.stringify(view.id)}${own},"meta":${metaJson(view, base)}}`;
}

const userUrn = JSON.stringify(userType.schema.id);
const travelUrn = JSON.stringify(urns.travel);
/** What stands before the travel extension in JSON text; inside of a string its quotes would be escaped. */
const travelKey = `${travelUrn}:`;

/**
 * What is kept and which extensions it has, with the traveler's id in the travel extension; undefined when that cannot
 * be said without parsing.
 */
function saidOf({ desired, extensions, travelUserId }: UserView) {
  if (extensions === null) return undefined;
  if (travelUserId === undefined) return { desired, extensions };
  const traveler = `"travelUserId":${JSON.stringify(travelUserId)}`;
  if (!extensions.includes(travelUrn)) {
    return {
      desired: added(desired, `${travelKey}{${traveler}}`),
      extensions: added(extensions, travelUrn),
    };
  }
  const at = desired.indexOf(travelKey);
  const begin = at + travelKey.length + 1;
  // The user has one at the top, so where there is only one it is that.
  const isSure = desired.indexOf(travelKey, begin) < 0 && desired[begin - 1] === '{';
  if (!isSure || desired.includes('"travelUserId"')) return undefined;
  const rest = desired.slice(begin);
  return {
    desired: `${desired.slice(0, begin)}${traveler}${rest.startsWith('}') ? '' : ','}${rest}`,
    extensions,
  };
}

/** Those on one page share their groups: each is written once, as long as anybody holds it. */
const written = new WeakMap<UserView['groups'][number], { base: string; json: string }>();

function membershipJson(group: UserView['groups'][number], base: string): string {
  const known = written.get(group);
  if (known?.base === base) return known.json;
  const json = JSON.stringify(membershipOf(group, base));
  written.set(group, { base, json });
  return json;
}

/** JSON text of an object or list with one more at its end. */
function added(json: string, more: string): string {
  return `${json.slice(0, -1)}${json.length > 2 ? ',' : ''}${more}${json.slice(-1)}`;
}

/** What stands in the brackets of JSON text, to be put behind something. */
function inner(json: string): string {
  return json.length > 2 ? `,${json.slice(1, -1)}` : '';
}

/** The same as `metaOf` says, written at once: it is a third of what is said around what is kept. */
function metaJson({ id, createdAt, lastModified, version }: UserView, base: string): string {
  const created = new Date(createdAt).toISOString();
  const modified = lastModified === createdAt ? created : new Date(lastModified).toISOString();
  const location = JSON.stringify(locationOf(userType, id, base));
  const tag = JSON.stringify(etagOf(version));
  return `{"resourceType":"User","created":"${created}","lastModified":"${modified}","location":${location},"version":${tag}}`;
}

/** A group as JSON text; members that are many are written in pieces, between which others have their turn. */
export function groupJson(view: GroupView, base: string, projection: Projection): JsonText {
  const { members = [], manyMembers = parts(members) } = view;
  if (!view.manyMembers && members.length <= MEMBERS_AT_ONCE) {
    return JSON.stringify(projection.apply(presentGroup(view, base)));
  }
  return pieces(manyMembers, (some) => projection.apply(presentGroup({ ...view, members: some }, base)));
}

async function* parts(members: ResolvedMember[]): AsyncGenerator<ResolvedMember[]> {
  for (let start = 0; start < members.length; start += MEMBERS_AT_ONCE)
    yield members.slice(start, start + MEMBERS_AT_ONCE);
}

async function* pieces(
  members: AsyncIterable<ResolvedMember[]>,
  shown: (some: ResolvedMember[]) => JsonObject,
): AsyncGenerator<string> {
  const whole = JSON.stringify(shown([]));
  let isBegun = false;
  for await (const some of members) {
    const piece = some.length > 0 ? shown(some)['members'] : undefined;
    if (piece === undefined) break;
    const text = JSON.stringify(piece).slice(1, -1);
    yield isBegun ? `,${text}` : `${whole.slice(0, -1)},"members":[${text}`;
    isBegun = true;
    await setImmediate();
  }
  yield isBegun ? ']}' : whole;
}

import { setImmediate } from 'node:timers/promises';
import type { GroupView } from '../bridge/groups.ts';
import type { Member } from '../bridge/ports.ts';
import type { UserView } from '../bridge/user-list.ts';
import { urns } from '../schema/resource.ts';
import { groupType, userType } from '../schema/resource-type.ts';
import { etagOf } from './conditions.ts';
import type { Answer } from './endpoint.ts';
import { groupsOf, locationOf, presentGroup, presentUser } from './present.ts';
import { everything, type Projection } from './projection.ts';

/** How many members are written at a stretch. */
const PIECE = 1000;

/** A user as it is answered. */
export function answerUser(view: UserView, base: string, projection: Projection): Answer {
  const location = locationOf(userType, view.id, base);
  return { location, version: view.version, json: userJson(view, base, projection) };
}

/** A group as it is answered, with what `attributes` and `excludedAttributes` leave of it. */
export async function answerGroup(view: GroupView, base: string, projection: Projection): Promise<Answer> {
  const location = locationOf(groupType, view.id, base);
  return { location, version: view.version, json: await groupJson(view, base, projection) };
}

/**
 * A user as JSON text, with what `attributes` and `excludedAttributes` leave of it. What is kept is text: to parse it in
 * order to print it again would cost most of the answer, so what is ours to say is put around it.
 */
export function userJson(view: UserView, base: string, projection: Projection): string {
  const { desired, extensions, groups, travelUserId } = view;
  if (projection !== everything || extensions === null || isMerged(extensions, travelUserId)) {
    return JSON.stringify(projection.apply(presentUser(view, base)));
  }
  const traveler = travelUserId === undefined ? '' : `,${travelUrn}:${JSON.stringify({ travelUserId })}`;
  const membership = groups.length === 0 ? '' : `,"groups":${JSON.stringify(groupsOf(view, base))}`;
  const schemas = `${userUrn}${inner(extensions)}${traveler === '' ? '' : `,${travelUrn}`}`;
  const own = `${inner(desired)}${traveler}${membership}`;
  return `{"schemas":[${schemas}],"id":${JSON.stringify(view.id)}${own},"meta":${metaJson(view, base)}}`;
}

const userUrn = JSON.stringify(userType.schema.id);
const travelUrn = JSON.stringify(urns.travel);

/** Whether what the IdP says of the travel extension has to be joined with what we say. */
function isMerged(extensions: string, travelUserId: string | undefined): boolean {
  return travelUserId !== undefined && extensions.includes(travelUrn);
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
export async function groupJson(view: GroupView, base: string, projection: Projection): Promise<string> {
  const { members = [] } = view;
  const shown = (some: Member[]) => projection.apply(presentGroup({ ...view, members: some }, base));
  if (members.length <= PIECE) return JSON.stringify(shown(members));
  const pieces: string[] = [];
  for (let start = 0; start < members.length; start += PIECE) {
    const piece = shown(members.slice(start, start + PIECE))['members'];
    if (piece === undefined) return JSON.stringify(shown([]));
    pieces.push(JSON.stringify(piece).slice(1, -1));
    await setImmediate();
  }
  return `${JSON.stringify(shown([])).slice(0, -1)},"members":[${pieces.join(',')}]}`;
}

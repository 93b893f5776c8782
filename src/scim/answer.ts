import type { GroupView } from '../bridge/groups.ts';
import type { UserView } from '../bridge/users.ts';
import { groupType, userType } from '../schema/resource-type.ts';
import type { Answer } from './endpoint.ts';
import { locationOf, presentGroup, presentUser } from './present.ts';
import type { Projection } from './projection.ts';

/** A user as it is answered, with what `attributes` and `excludedAttributes` leave of it. */
export function answerUser(view: UserView, base: string, projection: Projection): Answer {
  return {
    location: locationOf(userType, view.id, base),
    version: view.version,
    json: JSON.stringify(projection.apply(presentUser(view, base))),
  };
}

/** A group as it is answered, with what `attributes` and `excludedAttributes` leave of it. */
export function answerGroup(view: GroupView, base: string, projection: Projection): Answer {
  return {
    location: locationOf(groupType, view.id, base),
    version: view.version,
    json: JSON.stringify(projection.apply(presentGroup(view, base))),
  };
}

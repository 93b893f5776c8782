// The two SCIMMY packages as they come, with handlers that find people in memory, by id and by userName. node stock.mjs FILE,
// which holds users and groups as Jetbridge answered them.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import express from 'express';
import SCIMMY from 'scimmy';
import { SCIMMYRouters } from 'scimmy-routers';

const { users, groups } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const byId = new Map(users.map((user) => [user.id, user]));
const byName = new Map(users.map((user) => [user.userName, user]));
const inOrder = [...users];
const groupsById = new Map(groups.map((group) => [group.id, group]));

SCIMMY.Resources.declare(SCIMMY.Resources.User)
  .extend(SCIMMY.Schemas.EnterpriseUser, false)
  .egress((resource) => (resource.id ? byId.get(resource.id) : found(resource)))
  .ingress((resource, instance) => kept(resource, instance))
  .degress(() => {});
SCIMMY.Resources.declare(SCIMMY.Resources.Group)
  .egress((resource) => (resource.id ? groupsById.get(resource.id) : [...groupsById.values()]))
  .ingress(({ id }, instance) => {
    const group = { ...groupsById.get(id), ...plain(instance) };
    groupsById.set(id, group);
    return group;
  })
  .degress(() => {});

const server = express()
  // scimmy-routers changes `request.query`, which Express 5 parses again at each access, so that paging would not work.
  .use((request, _response, next) => {
    Object.defineProperty(request, 'query', { value: request.query, writable: true });
    next();
  })
  .use('/scim/v2', new SCIMMYRouters({ type: 'bearer', handler: () => 'bench' }))
  .listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

function found({ filter, constraints }) {
  const name = filter?.[0]?.userName?.[1];
  if (name !== undefined) return byName.has(name) ? [byName.get(name)] : [];
  const { startIndex = 1, count = 20 } = constraints;
  constraints.totalResults = inOrder.length;
  return inOrder.slice(startIndex - 1, startIndex - 1 + count);
}

function kept({ id = randomUUID() }, instance) {
  const before = byId.get(id);
  const user = { ...plain(instance), id, meta: before?.meta ?? { created: new Date().toISOString() } };
  if (!before) inOrder.push(user);
  byId.set(id, user);
  byName.set(user.userName, user);
  return user;
}

/** Copies a resource of SCIMMY, whose attributes are accessors, into a plain object. */
function plain(instance) {
  return JSON.parse(JSON.stringify({ ...instance }));
}

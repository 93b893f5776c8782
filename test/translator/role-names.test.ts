import { assignableRoles, type RoleSettings } from '../../src/translator/values/role-names.ts';

const shown = (roles: RoleSettings['roles']) =>
  assignableRoles({ roles }).map(({ name, role }) => (name === role ? role : `${name} → ${role}`));

describe('the roles that an identity provider may give', () => {
  test('are those that roles.allow lists, and without it all but those of administrators', () => {
    expect(shown({ allow: ['premium', 'admin'] })).toEqual(['admin', 'premium']);
    expect(shown(undefined)).toEqual([
      ...['accountant', 'guest', 'guestCreator', 'manager', 'organizer', 'premium'],
    ]);
    expect(shown({ allow: [] })).toEqual([]);
  });

  test('have the name of the travel service, or one of roles.map if the map gives that another meaning', () => {
    expect(shown({ allow: ['manager', 'guest'], map: { Boss: 'manager', manager: 'guest' } })).toEqual([
      'Boss → manager',
      'guest',
    ]);
  });

  test('are left out if no name gives them', () => {
    expect(shown({ allow: ['manager', 'guest'], map: { manager: 'guest' } })).toEqual(['guest']);
  });
});

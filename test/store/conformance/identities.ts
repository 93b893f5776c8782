import fc from 'fast-check';
import type { AppliedFields } from '../../../src/model/translation.ts';
import type { Json } from '../../../src/schema/resource.ts';
import { runs } from '../../fixtures/runs.ts';
import {
  announcedCreate,
  createOf,
  fixture,
  importedIdentity,
  linkedOutcome,
  NOW,
  type OpenDatabase,
  person,
  traveler,
} from '../../fixtures/store.ts';
import { areSameWithoutCase, wordPairs } from '../../fixtures/unicode.ts';

/** Conformance tests of reading identities, for any database. */
export function describeIdentities(open: OpenDatabase): void {
  describe('identities', () => {
    it('are read as they were committed', async () => {
      const { add, identities } = await fixture(open);
      const full = person('ada', {
        state: 'refused',
        rulesGeneration: 7,
        travelId: 't1',
        applied: { email: { sent: 'A@x', seen: 'a@x', source: 'A@x' } },
        refused: { lang: { value: 'de', basis: 'b', reason: 'unknown' } },
        observed: traveler('t1', 'a@x', { roles: ['traveler'] }),
        creating: createOf('Ada@Corp.example'),
        waitingFor: 'held@corp.example',
        findings: [{ field: 'lang', code: 'unknown', value: 'de', reason: 'r', remedy: 'm' }],
        trace: [
          { field: 'firstName', origin: 'default', rule: 'name.givenName', outcome: 'set', before: 'Ada' },
          ['managerId'],
          { field: 'lang', origin: 'default', rule: 'locale', outcome: 'absent' },
        ],
        attempts: 3,
        nextAttemptAt: NOW + 1,
      });
      await add(full);
      expect(await identities.findById('okta', 'ada')).toEqual(full);
    });

    it('have at most 16 KB of findings, whoever made them', async () => {
      const { add, identities } = await fixture(open);
      const large = 'é'.repeat(9_000);
      const findings = Array.from({ length: 1_000 }, (_, n) => ({
        ...{
          field: `f${n}`,
          code: `c${n}`,
          value: n % 2 === 0 ? large : [large],
          reason: large,
          remedy: 'm',
        },
      }));
      await add(person('ada', { findings }));
      const stored = (await identities.findById('okta', 'ada'))?.findings ?? [];
      expect(Buffer.byteLength(JSON.stringify(stored))).toBeLessThanOrEqual(16_384);
      expect(stored.length).toBeGreaterThan(5);
      expect(stored.map(({ code }) => code)).toEqual(
        findings.slice(0, stored.length).map(({ code }) => code),
      );
    });

    it('preserve any text and JSON', async () => {
      const { identities } = await fixture(open);
      let count = 0;
      const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'));
      await fc.assert(
        fc.asyncProperty(text, fc.jsonValue({ noUnicodeString: false }), async (title, extra) => {
          count += 1;
          const before = person(`p${count}`);
          const json = JSON.parse(JSON.stringify(extra).replaceAll('\\u0000', ''));
          const identity = { ...before, desired: { ...before.desired, title, extra: json } };
          await identities.commit('okta', [{ kind: 'insert', identity }]);
          expect((await identities.findById('okta', identity.id))?.desired).toEqual(identity.desired);
        }),
        runs(60),
      );
    });

    it('preserve applied fields, whichever of their values are equal', async () => {
      const { add, identities } = await fixture(open);
      const values: Json[] = ['a', 'b', null, false, 7, [], [{ data: 'x' }], [{ data: 'y' }], { id: 'x' }];
      const applied: AppliedFields = {};
      for (const sent of values)
        for (const seen of values)
          for (const source of values) {
            const key = Object.keys(applied).length;
            applied[`customFields.${key}`] = { sent, seen, source };
            applied[`address.${key}`] = { sent, source };
            applied[`roles.${key}`] = { sent, seen, source, before: true, resendAt: NOW };
          }
      await add(person('ada', { applied }));
      expect((await identities.findById('okta', 'ada'))?.applied).toEqual(applied);
    });

    it('are visible to their connection only', async () => {
      const { add, identities } = await fixture(open);
      await add(person('ada', { desired: { userName: 'ada', externalId: 'e', emails: [{ value: 'a@x' }] } }));
      expect(await identities.findById('entra', 'ada')).toBeUndefined();
      for (const match of [
        { by: 'id', value: 'ada' },
        { by: 'userName', value: 'ada' },
        { by: 'externalId', value: 'e' },
        { by: 'email', value: 'a@x' },
      ] as const) {
        expect(await identities.find('okta', match)).toHaveLength(1);
        expect(await identities.find('entra', match)).toEqual([]);
      }
      expect(await identities.findPage('entra', 0, 10)).toEqual({ total: 0, identities: [] });
    });

    it.each([
      ['ÉVA@Corp.example', 'éva@corp.EXAMPLE'],
      ['ΣΊΣΥΦΟΣ', 'σίσυφος'.normalize('NFD')],
      ['ＡＢＣ', 'ａｂｃ'],
      ['Åsa', 'Åsa'.normalize('NFD')],
    ])('are found by the userName and the emails of %s, regardless of case, as %s', async (kept, asked) => {
      const { add, identities } = await fixture(open);
      await add(person('p', { desired: { userName: kept, emails: [{ value: kept }, { value: 'b@x' }] } }));
      expect(await identities.find('okta', { by: 'userName', value: asked })).toHaveLength(1);
      expect(await identities.find('okta', { by: 'email', value: asked })).toHaveLength(1);
      expect(await identities.find('okta', { by: 'email', value: 'B@X' })).toHaveLength(1);
    });

    it('treat names and addresses as equal if their NFC in lower case is equal', async () => {
      const { identities, leases, add } = await fixture(open);
      let count = 0;
      await fc.assert(
        fc.asyncProperty(wordPairs, async ([one, other]) => {
          count += 1;
          const [kept, asked] = [`${one}@${count}`, `${other}@${count}`];
          const expected = areSameWithoutCase(kept, asked) ? 1 : 0;
          const desired = { userName: kept, emails: [{ value: kept }] };
          const id = `p${count}`;
          const own = { travelId: `t${count}`, observed: traveler(`t${count}`, kept) };
          await add(person(id, { desired, ...own, state: 'dirty' }));
          for (const by of ['userName', 'email', 'travelEmail'] as const)
            expect(await identities.find('okta', { by, value: asked })).toHaveLength(expected);
          expect(await identities.findHolder('acme', { travelEmail: asked })).toEqual(
            expected === 1 ? expect.objectContaining({ id }) : undefined,
          );
          const namesake = person(`${id}b`, { desired: { userName: asked } });
          expect(await identities.commit('okta', [{ kind: 'insert', identity: namesake }])).toBe(
            expected === 1 ? 'duplicate' : 'done',
          );
          await leases.acquire('okta', id, { token: 'k', ms: 9, now: NOW });
          await leases.announce('okta', id, 'k', announcedCreate(kept));
          expect(await identities.findHolder('acme', { creating: asked })).toEqual(
            expected === 1 ? expect.objectContaining({ id }) : undefined,
          );
        }),
        runs(60),
      );
    });

    it.each([
      ['ﬁona@corp.example', 'fiona@corp.example'],
      ['ＡＢＣ', 'abc'],
    ])('do not treat %s as %s', async (kept, asked) => {
      const { add, identities } = await fixture(open);
      await add(person('p', { desired: { userName: kept, emails: [{ value: kept }] } }));
      await add(person('q', { desired: { userName: asked, emails: [{ value: asked }] } }));
      for (const by of ['userName', 'email'] as const)
        expect((await identities.find('okta', { by, value: asked })).map(({ id }) => id)).toEqual(['q']);
    });

    it('are found by the exact externalId', async () => {
      const { add, identities } = await fixture(open);
      await add(person('p', { desired: { userName: 'p', externalId: 'Abc' } }));
      expect(await identities.find('okta', { by: 'externalId', value: 'Abc' })).toHaveLength(1);
      expect(await identities.find('okta', { by: 'externalId', value: 'abc' })).toEqual([]);
    });

    it('are found by names that are too long for an index', async () => {
      const { add, identities } = await fixture(open);
      const long = 'X'.repeat(100_000);
      await add(person('p', { desired: { userName: `${long}1`, externalId: `${long}1` } }));
      expect(await identities.find('okta', { by: 'userName', value: `${long.toLowerCase()}1` })).toHaveLength(
        1,
      );
      expect(await identities.find('okta', { by: 'userName', value: `${long}2` })).toEqual([]);
      expect(await identities.find('okta', { by: 'externalId', value: `${long}1` })).toHaveLength(1);
    });

    it('are found with tombstones, newest first', async () => {
      const { add, identities } = await fixture(open);
      const desired = { userName: 'ada', externalId: 'e', emails: [{ value: 'a@x' }] };
      await add(
        person('old', { desired, createdAt: NOW, deletedAt: NOW + 1 }),
        person('new', { desired, createdAt: NOW + 2 }),
      );
      for (const match of [
        { by: 'userName', value: 'ADA' },
        { by: 'externalId', value: 'e' },
        { by: 'email', value: 'A@X' },
      ] as const) {
        expect((await identities.find('okta', match)).map(({ id }) => id)).toEqual(['new', 'old']);
      }
    });

    it('are found by traveler, and by the last observed address of the traveler', async () => {
      const { add, identities } = await fixture(open);
      await add(importedIdentity('ada', 't1'), importedIdentity('bob', 't2'));
      expect((await identities.find('okta', { by: 'travelId', value: 't1' })).map(({ id }) => id)).toEqual([
        'ada',
      ]);
      const seen = await identities.find('okta', { by: 'travelEmail', value: 'BOB@corp.example' });
      expect(seen.map(({ id }) => id)).toEqual(['bob']);
    });
  });

  describe('a page of identities', () => {
    it('contains complete users first, then the others in the order of creation, and no tombstones', async () => {
      const { add, identities } = await fixture(open);
      const bare = { userName: 'bare' };
      await add(
        person('bare', { desired: bare }),
        person('noMail', { desired: { userName: 'n', name: { givenName: 'a', familyName: 'b' } } }),
        person('b'),
        person('a'),
        person('late'),
        person('dead', { deletedAt: NOW }),
      );
      const page = await identities.findPage('okta', 0, 10);
      expect(page.total).toBe(5);
      expect(page.identities.map(({ id }) => id)).toEqual(['b', 'a', 'late', 'bare', 'noMail']);
    });

    it('keeps each identity in its position for life', async () => {
      const { add, identities } = await fixture(open);
      await add(person('bare', { desired: { userName: 'bare' }, createdAt: NOW - 5 }), person('whole'));
      const completed = { ...person('bare'), version: 2, createdAt: NOW - 5 };
      await identities.commit('okta', [{ kind: 'update', identity: completed, expected: 1 }]);
      const { identities: order } = await identities.findPage('okta', 0, 10);
      expect(order.map(({ id }) => id)).toEqual(['whole', 'bare']);
    });

    it('has an exact total for any offset and limit', async () => {
      const { add, identities } = await fixture(open);
      await add(...['a', 'b', 'c', 'd', 'e'].map((id) => person(id)));
      expect(await identities.findPage('okta', 0, 0)).toEqual({ total: 5, identities: [] });
      expect(await identities.findPage('okta', 9, 2)).toEqual({ total: 5, identities: [] });
      const middle = await identities.findPage('okta', 1, 2);
      expect(middle.identities.map(({ id }) => id)).toEqual(['b', 'c']);
    });

    it('has an exact total after every insert, delete and restore', async () => {
      const { add, identities } = await fixture(open);
      const total = async () => (await identities.findPage('okta', 0, 0)).total;
      await add(person('a'), importedIdentity('b', 't1'), importedIdentity('c', 't2'));
      const dead = { ...person('a'), version: 2, deletedAt: NOW };
      await identities.commit('okta', [{ kind: 'update', identity: dead, expected: 1 }]);
      expect(await total()).toBe(2);
      const back = { ...dead, version: 3, deletedAt: undefined };
      await identities.commit('okta', [{ kind: 'update', identity: back, expected: 2 }]);
      expect(await total()).toBe(3);
      await identities.commit('okta', [{ kind: 'deleteUnclaimed', id: 'b' }]);
      expect(await total()).toBe(2);
    });
  });

  describe('the holder of a traveler', () => {
    it('is the claimed identity in any connection of the account', async () => {
      const { add, identities } = await fixture(open);
      await add(
        person('ada', { travelId: 't1', observed: traveler('t1', 'Ada@X') }),
        importedIdentity('bob', 't2'),
      );
      expect((await identities.findHolder('acme', { travelId: 't1' }))?.id).toBe('ada');
      expect((await identities.findHolder('acme', { travelEmail: 'ADA@x' }))?.id).toBe('ada');
      expect(await identities.findHolder('globex', { travelId: 't1' })).toBeUndefined();
      expect(await identities.findHolder('acme', { travelId: 't2' })).toBeUndefined();
      expect(await identities.findHolder('acme', { travelEmail: 'bob@corp.example' })).toBeUndefined();
    });

    it('may be a tombstone', async () => {
      const { add, identities } = await fixture(open);
      await add(person('ada', { travelId: 't1', deletedAt: NOW }));
      expect((await identities.findHolder('acme', { travelId: 't1' }))?.id).toBe('ada');
    });

    it('by address is the live identity, even if a tombstone has the address too', async () => {
      const { add, identities } = await fixture(open);
      await add(
        person('live', { travelId: 't1', observed: traveler('t1', 'a@x') }),
        person('dead', {
          travelId: 't2',
          observed: traveler('t2', 'a@x'),
          deletedAt: NOW,
          createdAt: NOW + 9,
        }),
      );
      expect((await identities.findHolder('acme', { travelEmail: 'a@x' }))?.id).toBe('live');
    });

    it('changes with the outcome of a reconciliation', async () => {
      const { add, identities, leases } = await fixture(open);
      await add(person('ada'));
      await leases.acquire('okta', 'ada', { token: 'k', ms: 9, now: NOW });
      await leases.finish('okta', 'ada', 'k', { revision: 1 }, linkedOutcome('t1', 'Ada@X'));
      expect((await identities.findHolder('acme', { travelEmail: 'ada@x' }))?.id).toBe('ada');
    });
  });
}

/** Conformance tests of identities with random values, for any database. */
export function describeAnyIdentities(open: OpenDatabase): void {
  it('identities preserve any text and JSON', async () => {
    const { identities } = await fixture(open);
    let count = 0;
    const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0'));
    await fc.assert(
      fc.asyncProperty(text, fc.jsonValue({ noUnicodeString: false }), async (title, extra) => {
        count += 1;
        const before = person(`p${count}`);
        const json = JSON.parse(JSON.stringify(extra).replaceAll('\\u0000', ''));
        const identity = { ...before, desired: { ...before.desired, title, extra: json } };
        await identities.commit('okta', [{ kind: 'insert', identity }]);
        expect((await identities.findById('okta', identity.id))?.desired).toEqual(identity.desired);
      }),
      runs(60),
    );
  });
}

import { join } from 'node:path';
import { type AdminFixture, startAdmin } from '../fixtures/admin.ts';

const path = '/mappings/default';

function rules(count: number, rule: (index: number) => object): string {
  const scimUserMapping = Array.from({ length: count }, (_, index) => ({
    ...{ scimAttribute: 'title', customField: `field ${index}` },
    ...rule(index),
  }));
  return JSON.stringify({ scimUserMapping });
}

const replaced = (pattern: string) => ({ transforms: [{ replace: { pattern, with: '' } }] });

/** 39 KB with 40 patterns of 58 nested repetitions each: to compile them takes a minute. */
const attack = rules(40, () => replaced('(x{0,1000}){0,1}'.repeat(58)));

let fixture: AdminFixture;
beforeAll(async () => {
  fixture = await startAdmin({}, { mappingLimits: { taskMs: 60_000 } });
});
afterAll(() => fixture.close());

describe('a mapping that is too large', () => {
  test.each([
    [
      'has patterns that would take a minute',
      attack,
      'scimUserMapping[0].transforms[0].replace.pattern',
      /size/,
    ],
    ['has 501 rules', rules(501, () => ({})), 'scimUserMapping', /501 rules, and a mapping has at most 500/],
    [
      'has 201 patterns',
      rules(201, () => replaced('a')),
      'scimUserMapping[200].transforms[0].replace.pattern',
      /one pattern too many: the mapping has 201/,
    ],
    [
      'has conditions of more than 100,000 characters',
      rules(51, (index) => ({
        when: Array(99).fill('emails[value pr]').join(' or ') + (index === 7 ? ' or title pr' : ''),
      })),
      'scimUserMapping[7]',
      /of all rules together 101043, and a mapping has at most 100000/,
    ],
  ])(
    'and %s is told with place and cure, and neither previewed nor applied',
    async (_title, text, place, problem) => {
      const { viewer, admin } = fixture;
      const { body } = await viewer('POST', `${path}/check`, { body: { text } });
      expect(body.faults).toEqual([
        { path: place, problem: expect.stringMatching(problem), remedy: expect.any(String) },
      ]);
      const user = { userName: 'x'.repeat(10_000) };
      for (const answer of [
        await viewer('POST', `${path}/preview`, { body: { text } }),
        await viewer('POST', `${path}/preview-person`, { body: { text, user } }),
        await admin('PUT', path, { body: { text, generation: 1 } }),
      ])
        expect([answer.status, answer.body.faults[0].field]).toEqual([422, place]);
    },
  );

  test('500 rules and patterns of the largest size are accepted', async () => {
    const text = rules(500, (index) => (index < 200 ? replaced('x{0,10}') : {}));
    const { body } = await fixture.viewer('POST', `${path}/check`, { body: { text } });
    // The travel service has no such fields.
    expect(body.faults[0]).toMatchObject({ path: 'scimUserMapping[0].customField' });
  });

  test('a text that is too long for a pattern keeps the field, with a finding', async () => {
    const text = JSON.stringify({
      scimUserMapping: [{ scimAttribute: 'nickName', userAttribute: 'firstName', ...replaced('a+') }],
    });
    const user = { userName: 'ada@corp.example', nickName: 'a'.repeat(1_001) };
    const { body } = await fixture.viewer('POST', `${path}/preview-person`, { body: { text, user } });
    expect(body.fields).toContainEqual(expect.objectContaining({ field: 'firstName', outcome: 'kept' }));
    expect(body.findings).toContainEqual(
      expect.objectContaining({
        field: 'firstName',
        code: 'transformFailed',
        reason: expect.stringContaining('it has 1001 characters, and a pattern reads at most 1000'),
        mappingPath: 'scimUserMapping[0].transforms[0].replace',
      }),
    );
  });
});

describe('what is answered about a mapping text stays small', () => {
  test('if it has a fault in ten thousand places, the first hundred are told', async () => {
    const text = JSON.stringify({ roles: { allow: Array(10_000).fill(0) } });
    const checked = await fixture.viewer('POST', `${path}/check`, { body: { text } });
    expect(checked.body.faults).toHaveLength(100);
    expect(checked.body.faults[0].path).toBe('roles.allow[0]');
    const user = { userName: 'ada@corp.example' };
    const { status, body } = await fixture.viewer('POST', `${path}/preview-person`, { body: { text, user } });
    expect([status, body.faults.length]).toEqual([422, 100]);
  });

  test('if it has a name of 400,000 characters, the fault has the beginning of it', async () => {
    const text = JSON.stringify({ ['a'.repeat(400_000)]: 0 });
    const { body } = await fixture.viewer('POST', `${path}/check`, { body: { text } });
    expect(body.faults).toEqual([
      { path: expect.stringMatching(/^a+…$/), problem: 'unknown key', remedy: expect.any(String) },
    ]);
    expect(JSON.stringify(body).length).toBeLessThan(2_000);
  });

  test('if a rule with a large map reads many values, the trace has the beginning of its text for each', async () => {
    const map = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key ${index}`, 'x']));
    const rule = { scimAttribute: 'emails', userAttribute: 'firstName', transforms: [{ map }] };
    const emails = Array.from({ length: 250 }, (_, index) => ({ value: `ada.${index}@corp.example` }));
    const { status, body } = await fixture.viewer('POST', `${path}/preview-person`, {
      body: {
        text: JSON.stringify({ scimUserMapping: [rule] }),
        user: { userName: 'ada@corp.example', emails },
      },
    });
    expect(status).toBe(200);
    const { trace } = body as { trace: { field: string; rule: string }[] };
    const ofRule = trace.filter(({ field }) => field === 'firstName');
    expect(ofRule.length).toBeGreaterThan(100);
    for (const { rule: shown } of ofRule)
      expect(shown).toMatch(/^emails \| map key 0 → x, key 1 → x, key 2 → x, …$/);
  });

  test('if the values of a preview are too large together, it is refused', async () => {
    const address = ['streetAddress', 'city', 'region', 'postalCode', 'countryCode'];
    const fields = [
      ...['firstName', 'lastName', 'phoneNumber', 'dateOfBirth', 'lang', 'gender', 'currency', 'email'],
      ...address.map((part) => `address.${part}`),
    ];
    const long = { prefix: 'x'.repeat(1_000) };
    const scimUserMapping = fields.map((userAttribute) => ({
      ...{ scimAttribute: 'emails', userAttribute },
      transforms: Array(9).fill(long),
    }));
    const emails = Array.from({ length: 250 }, (_, index) => ({ value: `ada.${index}@corp.example` }));
    const { status, body } = await fixture.viewer('POST', `${path}/preview-person`, {
      body: { text: JSON.stringify({ scimUserMapping }), user: { userName: 'ada@corp.example', emails } },
    });
    expect([status, body.code, body.message]).toEqual([
      422,
      'tooCostly',
      'The result of this mapping is larger than 5 MB. Use shorter texts, or a person with fewer values.',
    ]);
  });
});

describe('while a mapping is computed', () => {
  const mappingProgram = join(__dirname, '../fixtures/thread-program.cjs');
  const check = (text: string, signal?: AbortSignal) =>
    ['POST', `${path}/check`, { body: { text }, ...(signal ? { signal } : {}) }] as const;

  test('all other requests are served', async () => {
    const fixture = await startAdmin({}, { mappingProgram });
    const caller = new AbortController();
    try {
      let isAnswered = false;
      const endless = fixture.viewer(...check('loop', caller.signal)).finally(() => {
        isAnswered = true;
      });
      endless.catch(() => {});
      for (const url of ['/healthz', '/readyz', '/admin/api/openapi.json'])
        expect((await fetch(`${fixture.service.url}${url}`)).status).toBe(200);
      expect((await fixture.viewer('GET', '/people')).status).toBe(200);
      expect(isAnswered).toBe(false);
    } finally {
      caller.abort();
      await fixture.close();
    }
  });

  test('it ends at its deadline with a clear answer', async () => {
    const fixture = await startAdmin({}, { mappingProgram, mappingLimits: { taskMs: 200 } });
    try {
      const { status, body } = await fixture.viewer(...check('loop'));
      expect([status, body]).toEqual([
        422,
        {
          code: 'tooCostly',
          message: 'Computing with this mapping takes more than 0.2 s. Use fewer or smaller patterns.',
        },
      ]);
    } finally {
      await fixture.close();
    }
  });

  test('another one waits, and is answered 429 with Retry-After if it takes too long', async () => {
    const limits = { taskMs: 60_000, waitMs: 1 };
    const fixture = await startAdmin({}, { mappingProgram, mappingLimits: limits });
    const caller = new AbortController();
    try {
      const both = [1, 2].map(() => fixture.viewer(...check('loop', caller.signal)));
      const { status, headers, body } = await Promise.race(both);
      expect([status, headers.get('retry-after'), body.code]).toEqual([429, '5', 'busy']);
      for (const one of both) one.catch(() => {});
    } finally {
      caller.abort();
      await fixture.close();
    }
  });
});

import { writeTokenUses } from '../../src/store/credentials/token-uses.ts';
import { clock } from '../fixtures/clock.ts';
import { eventually } from '../fixtures/eventually.ts';

function fixture({ failures = 0 } = {}) {
  const time = clock();
  const batches: [string, number][][] = [];
  const warnings: string[] = [];
  let failing = failures;
  const uses = writeTokenUses({
    wait: time.wait,
    log: { warn: (_details: object, text: string) => void warnings.push(text) },
    tokens: {
      recordUses: async (batch) => {
        failing -= 1;
        if (failing >= 0) throw new Error('disk on fire');
        batches.push([...batch]);
      },
    },
  });
  return { uses, batches, warnings, advance: time.advance };
}

test('the uses of half a minute are written together, the last of each token only', async () => {
  const { uses, batches, advance } = fixture();
  uses.note('okta', 1);
  uses.note('entra', 2);
  uses.note('okta', 3);
  advance(29_000);
  expect(batches).toEqual([]);
  advance(1_000);
  await eventually(async () =>
    expect(batches).toEqual([
      [
        ['okta', 3],
        ['entra', 2],
      ],
    ]),
  );
  await uses.close();
  expect(batches).toHaveLength(1);
});

test('closing writes what was noted since', async () => {
  const { uses, batches } = fixture();
  uses.note('okta', 1);
  await uses.close();
  expect(batches).toEqual([[['okta', 1]]]);
});

test('uses that cannot be saved are saved later, but never replace later ones', async () => {
  const { uses, batches, warnings, advance } = fixture({ failures: 1 });
  uses.note('okta', 1);
  uses.note('entra', 1);
  advance(30_000);
  await eventually(async () => expect(warnings).toHaveLength(1));
  uses.note('okta', 2);
  await uses.close();
  expect(new Map(batches[0])).toEqual(
    new Map([
      ['okta', 2],
      ['entra', 1],
    ]),
  );
});

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultPolicies } from '../bridge/policies.ts';
import { readMapping, type Settings } from '../config.ts';
import { newSecret } from '../http/bearer.ts';
import { replay } from '../replay/replay.ts';
import type { Step } from '../replay/scenario.ts';
import { type Fault, SettingsFault } from '../settings-fault.ts';
import { type Service, start } from '../start.ts';
import { peopleTable } from './people-table.ts';
import type { Shell } from './shell.ts';

const days = ['okta-day.json', 'entra-day.json'];

/** Plays a recorded day of Okta and of Entra ID on a throw-away database, and shows what became of everybody. */
export async function demo(shell: Shell): Promise<0 | 1> {
  const data = mkdtempSync(join(tmpdir(), 'jetbridge-demo-'));
  const scimToken = newSecret('scim');
  const travelKey = newSecret('travel');
  const service = await start(settingsFor(shell, { data, scimToken, travelKey }));
  try {
    shell.print(`Jetbridge runs on ${service.url} with an empty, throw-away database.\n`);
    const made = await makeDepartment(service, travelKey);
    if (!made) return 1;
    return await playDays(shell, service, { scimToken, travelKey });
  } finally {
    await service.close();
    rmSync(data, { recursive: true });
  }
}

interface Secrets {
  scimToken: string;
  travelKey: string;
}

async function playDays(shell: Shell, service: Service, { scimToken, travelKey }: Secrets): Promise<0 | 1> {
  const notes: string[] = [];
  const { failed } = await replay({
    files: days.map((day) => join(shell.home, 'demo', day)),
    url: `${service.url}/scim/v2`,
    token: scimToken,
    print: shell.print,
    now: Date.now,
    newRun: () => randomBytes(4).toString('hex'),
    afterStep: async (_scenario, step: Step) => {
      if (step.note !== undefined) notes.push(step.note);
    },
  });
  const people = await service.people('default');
  const answer = await fetch(`${service.url}/api/users?limit=100`, {
    headers: { Authorization: `Bearer ${travelKey}` },
  });
  const { data: travelers } = (await answer.json()) as {
    data: Parameters<typeof peopleTable>[0]['travelers'];
  };
  shell.print(`\n${peopleTable({ people, travelers, notes })}`);
  return failed > 0 ? 1 : 0;
}

/** The custom field that the mapping of departments names; a real travel account has it already. */
async function makeDepartment(service: Service, travelKey: string): Promise<boolean> {
  const answer = await fetch(`${service.url}/api/custom-fields`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${travelKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ data: { name: 'Department', dataType: 'text', resourceType: 'user' } }),
  });
  return answer.status === 201;
}

function settingsFor(shell: Shell, { data, scimToken, travelKey }: Secrets & { data: string }): Settings {
  const faults: Fault[] = [];
  const mappingFile = join(shell.home, 'demo/mapping.json');
  const mapping = readMapping(mappingFile, faults);
  if (!mapping) throw new SettingsFault(faults);
  return {
    port: 0,
    host: '127.0.0.1',
    publicUrl: undefined,
    data,
    key: undefined,
    previousKey: undefined,
    logLevel: 'silent',
    maxConnections: 100,
    writeBudgetMs: 800,
    parkingDomain: 'jetbridge.invalid',
    minimumShare: 0.5,
    tombstoneDays: 400,
    alerts: undefined,
    travelService: { webhooks: { allowPrivate: false } },
    tls: undefined,
    requireHttps: false,
    trustedProxies: [],
    connections: [
      {
        id: 'default',
        mapping,
        mappingFile,
        scimToken,
        account: 'embedded',
        travelApi: {
          url: 'embedded',
          key: travelKey,
          paths: {},
          timeoutMs: 10_000,
          concurrency: 8,
          perSecond: 100,
          lateMs: 30_000,
          patchMediaType: 'application/json',
          feed: false,
        },
        policies: defaultPolicies,
      },
    ],
  };
}

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Table from 'cli-table3';
import { readSettings, type Settings } from '../../config/settings.ts';
import { newSecret } from '../../http/authentication.ts';
import type { Identity } from '../../model/identity.ts';
import type { TravelUser } from '../../model/traveler.ts';
import { replay } from '../../replay/report.ts';
import { readScenarios, type Step } from '../../replay/scenario.ts';
import type { Service } from '../../server/start.ts';
import type { CliCommand } from '../command.ts';
import { escapeLine, type Shell, shrinkWidths } from '../terminal/output.ts';

/** Defines the command `demo`. */
export function defineDemoCommand(command: CliCommand): void {
  command.option('--once', 'end after the table').examples('demo', 'demo --once').runs(demo);
}

/** The recorded days, in the folder `demo`. */
const scenarioFiles = ['okta-day.json', 'entra-day.json'];

/**
 * Plays a recorded day of Okta and of Entra ID on a throw-away database, and prints a table of the people. Without `once` it then serves
 * the page until SIGINT or SIGTERM. The database is removed at the end.
 */
export async function demo(shell: Shell, flags: { once?: true } = {}): Promise<0 | 1> {
  const stopped = flags.once ? undefined : Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const data = mkdtempSync(join(tmpdir(), 'jetbridge-demo-'));
  const scimToken = newSecret('scim');
  const travelKey = newSecret('travel');
  let service: Service | undefined;
  try {
    const { start } = await import('../../server/start.ts');
    service = await start(demoSettings(shell.home, { data, scimToken, travelKey }), {
      page: join(shell.home, 'dist/admin/ui'),
      documents: join(shell.home, 'dist/docs'),
      mappingProgram: join(shell.home, 'dist/admin/mapping-thread/worker.js'),
    });
    shell.print(`Jetbridge runs on ${service.url} with an empty, throw-away database.\n`);
    if (!(await createDepartmentField(service, travelKey))) return 1;
    const code = await playDays(shell, service, { scimToken, travelKey });
    if (!stopped) return code;
    const password = await service.makeFirstAdmin();
    shell.print(`\nLook at these people on ${service.url}/admin: sign in as admin with ${password}`);
    shell.print('Ctrl-C ends the demo and removes its database.');
    await stopped;
    return code;
  } finally {
    await service?.close();
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
    scenarios: scenarioFiles.flatMap((day) => readScenarios(join(shell.home, 'demo', day))),
    url: `${service.url}/scim/v2`,
    token: scimToken,
    print: shell.print,
    now: Date.now,
    newRun: () => randomBytes(4).toString('hex'),
    afterStep: async (_scenario, step: Step) => {
      if (step.note !== undefined) notes.push(step.note);
    },
  });
  const people = await service.identities('default');
  const answer = await fetch(`${service.url}/api/users?limit=100`, {
    headers: { Authorization: `Bearer ${travelKey}` },
  });
  const { data: travelers } = (await answer.json()) as {
    data: Parameters<typeof peopleTable>[0]['travelers'];
  };
  shell.print(`\n${peopleTable({ people, travelers, notes, columns: shell.columns })}`);
  return failed > 0 ? 1 : 0;
}

/** Creates the custom field to which the demo mapping writes the department; a real travel account has it already. */
async function createDepartmentField(service: Service, travelKey: string): Promise<boolean> {
  const answer = await fetch(`${service.url}/api/custom-fields`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${travelKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ data: { name: 'Department', dataType: 'text', resourceType: 'user' } }),
  });
  return answer.status === 201;
}

/** The settings of a service on a free port whose data is thrown away. */
function demoSettings(home: string, { data, scimToken, travelKey }: Secrets & { data: string }): Settings {
  const file = join(data, 'jetbridge.json');
  const connection = {
    mapping: join(home, 'demo/mapping.json'),
    travelApi: { url: 'embedded', feed: false },
  };
  writeFileSync(file, JSON.stringify({ connections: { default: connection } }));
  const environment = {
    ...{ JETBRIDGE_CONFIG: file, JETBRIDGE_DATA: data, PORT: '0', LOG_LEVEL: 'silent' },
    ...{ SCIM_TOKEN: scimToken, TRAVEL_API_KEY: travelKey },
  };
  return readSettings(environment, home);
}

interface People {
  people: Identity[];
  travelers: TravelUser[];
  /** The notes of the recorded exchanges, in order. The first word of each is the given name of the person. */
  notes: string[];
  /** The width of the terminal; undefined if there is none. */
  columns: number | undefined;
}

const peopleWidths = [16, 36, 42, 42];

/** Formats a table of the provisioned people: the requests of the IdP, the traveler, and the findings. */
function peopleTable({ people, travelers, notes, columns }: People): string {
  const table = new Table({
    head: ['person', 'what the IdP said', 'what the travel service holds', 'left out, and why'],
    colWidths: columns === undefined ? peopleWidths : shrinkWidths(peopleWidths, columns),
    wordWrap: true,
    style: { head: [], border: [] },
  });
  const names = new Map(
    travelers.map((traveler) => [traveler.id, `${traveler.firstName} ${traveler.lastName}`]),
  );
  for (const identity of people.filter(({ claimed }) => claimed)) {
    const traveler = travelers.find(({ id }) => id === identity.travelId);
    const given = givenName(identity);
    table.push([
      escapeLine(names.get(identity.travelId ?? '') ?? given),
      notes
        .filter((note) => note.startsWith(`${given} `))
        .map(escapeLine)
        .join('\n') || 'joins',
      traveler ? travelerLines(traveler, names) : 'nothing yet',
      identity.findings.map(findingLine).join('\n') || '-',
    ]);
  }
  return table.toString();
}

function findingLine({ field, value, reason }: Identity['findings'][number]): string {
  return escapeLine(`${field}${typeof value === 'string' ? ` "${value}"` : ''}: ${reason}`);
}

function givenName({ desired }: Identity): string {
  const { name } = desired;
  const given = typeof name === 'object' && name && !Array.isArray(name) ? name.givenName : undefined;
  return typeof given === 'string' ? given : String(desired.userName);
}

function travelerLines(traveler: TravelUser, names: Map<string, string>): string {
  const { email, archived, phoneNumber, lang, address, managerId, customFields = [] } = traveler;
  const lines: [string, string | undefined][] = [
    ['email', email],
    ['phone', phoneNumber],
    ['language', lang],
    [
      'address',
      address && [address.streetAddress, address.city, address.countryCode].filter(Boolean).join(', '),
    ],
    ['manager', managerId && (names.get(managerId) ?? managerId)],
    ...customFields.map(({ name, values }): [string, string] => [
      name ?? 'custom field',
      values.map(({ data }) => data).join(', '),
    ]),
    ['archived', archived ? 'yes' : undefined],
  ];
  return lines
    .filter(([, value]) => value)
    .map(([label, value]) => escapeLine(`${label}: ${value}`))
    .join('\n');
}

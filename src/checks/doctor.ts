import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { types } from 'node:util';
import { adminPasswordWeakness } from '../admin/sign-in/first-admin.ts';
import { isUnencrypted, UNENCRYPTED_DATABASE } from '../config/database-url.ts';
import type { Fault } from '../config/faults.ts';
import type { ConnectionSettings, Settings } from '../config/settings.ts';
import { withStoredConnections } from '../config/stored-connections.ts';
import { hideUrlCredentials } from '../http/redaction.ts';
import type { Condition } from '../model/conditions.ts';
import type { Database } from '../store/sql/database.ts';
import { databaseFacts } from '../store/sql/database-facts.ts';
import { displayLocation, openDatabase } from '../store/sql/open-database.ts';
import { readStoredSettings } from '../store/stored-connections.ts';
import { readConditions } from './conditions.ts';
import { checkMapping } from './connection.ts';
import { conditionFindings, databaseResults } from './database-checks.ts';
import { type DoctorResult, type Finding, fault, ok, toResults, warning } from './doctor-findings.ts';
import { type SampleFindings, translateSample } from './mapping.ts';
import { operatorMessage } from './operator-message.ts';
import { findOpenidProblem } from './settings.ts';
import { type ErrorResponses, probeErrorResponses, probeTravel } from './travel-api.ts';

const MEGABYTE = 1024 * 1024;
const LITTLE_SPACE = 1024 * MEGABYTE;
const NO_SPACE = 100 * MEGABYTE;
/** A larger difference between the clocks is reported, in milliseconds. The `Date` header has whole seconds. */
const CLOCK_TOLERANCE_MS = 5_000;
/** The number of people whose translation is tried. */
const SAMPLE = 100;

/** Returns the free space of the disk that contains a folder, in bytes. */
type MeasureFreeSpace = (folder: string) => number;

/** Runs all checks, beside a running server or without one. Changes no data, except for a probe write to the database. */
export async function runDoctor(
  given: Settings,
  now: number,
  measureFreeSpace: MeasureFreeSpace = freeSpace,
): Promise<DoctorResult[]> {
  const { results, database } = await openForChecks(given);
  try {
    const settings = database ? await addStoredConnections(given, database, results) : given;
    const found = await readConditions(settings, database, now);
    results.push(
      ...toResults('database connection', checkEncryption(settings)),
      ...toResults('data folder', checkFolder(settings, measureFreeSpace)),
      ...toResults('certificate', certificateFindings(settings, found.conditions)),
      ...toResults('OpenID provider', await checkOpenid(settings)),
      ...toResults('ADMIN_PASSWORD', checkAdminPassword(settings)),
    );
    if (database) results.push(...(await databaseResults({ settings, database, now, ...found })));
    for (const connection of settings.connections)
      results.push(...(await connectionResults(settings, connection, database)));
    return results;
  } finally {
    await database?.close();
  }
}

interface OpenForChecks {
  results: DoctorResult[];
  database: Database | undefined;
}

async function openForChecks(settings: Settings): Promise<OpenForChecks> {
  const check = 'database';
  try {
    const database = await openDatabase(settings, { exclusive: false, mayCreate: false });
    try {
      await database.probeWrite();
      const { name, bytes } = await databaseFacts(database);
      const text = `${name} in ${displayLocation(settings)} can be written, ${megabytes(bytes)}`;
      return { results: [{ check, state: 'ok', text }], database };
    } catch (error) {
      await database.close();
      throw error;
    }
  } catch (error) {
    return { results: [{ check, state: 'fault', ...databaseFault(error, settings) }], database: undefined };
  }
}

/** Adds the connections of the database to the settings, and a fault for each that a server with this environment would not serve. */
async function addStoredConnections(
  settings: Settings,
  database: Database,
  results: DoctorResult[],
): Promise<Settings> {
  const onFaults = (id: string, faults: Fault[]) =>
    results.push(
      ...faults.map(
        ({ path, problem, remedy }): DoctorResult => ({
          ...{ check: `connection ${id}`, state: 'fault', text: `${path}: ${problem}`, remedy },
        }),
      ),
    );
  return withStoredConnections(settings, await readStoredSettings(database), { onFaults });
}

function checkEncryption({ postgres }: Settings): Finding[] {
  if (!postgres || !isUnencrypted(postgres.url)) return [];
  const { problem, remedy } = UNENCRYPTED_DATABASE;
  return [warning(problem, remedy)];
}

function databaseFault(error: unknown, { data }: Settings): Pick<DoctorResult, 'text' | 'remedy'> {
  const text = operatorMessage(error, data);
  if (text !== undefined) return { text, remedy: 'Then run this again: checks that need it were left out.' };
  return {
    text: types.isNativeError(error) ? error.message : String(error),
    remedy: 'Make the database available, then run this again: checks that need it were left out.',
  };
}

function freeSpace(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** On PostgreSQL, the data folder need not exist, and this user need not be able to use it. */
function checkFolder({ data, postgres }: Settings, measureFreeSpace: MeasureFreeSpace): Finding[] {
  try {
    const folder = statSync(data, { throwIfNoEntry: false });
    if (!folder) return [];
    if (folder.isDirectory()) {
      accessSync(data, constants.R_OK | constants.W_OK | constants.X_OK);
      return folderFindings(data, { mode: folder.mode, free: measureFreeSpace(data) });
    }
    const remedy = 'Set JETBRIDGE_DATA to a folder.';
    return postgres ? [] : [fault(`${data} is a file`, remedy)];
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const remedy = 'Run this as the user of the server, who must have the right to read and write there.';
    return postgres ? [] : [fault(text, remedy)];
  }
}

function folderFindings(data: string, { mode, free }: { mode: number; free: number }): Finding[] {
  const findings: Finding[] = [];
  if (free < LITTLE_SPACE) {
    const finding = free < NO_SPACE ? fault : warning;
    findings.push(
      finding(`only ${megabytes(free)} are free on the disk of ${data}`, 'Make room on the disk.'),
    );
  }
  if ((mode & 0o077) !== 0) findings.push(warning(`other users may enter ${data}`, `Run: chmod 700 ${data}`));
  return findings.length > 0 ? findings : [ok(`${data} is private, ${megabytes(free)} are free`)];
}

/** Not a fault while the provider is away, if passwords open the page. */
async function checkOpenid({ adminOpenid, passwordSignIn }: Settings): Promise<Finding[]> {
  if (!adminOpenid) return [];
  const problem = await findOpenidProblem(adminOpenid);
  if (!problem) return [ok(`${adminOpenid.issuer} lets people sign in to the admin page`)];
  const others = passwordSignIn
    ? 'passwords work meanwhile'
    : 'nobody can sign in meanwhile, unless adminPage.passwordSignIn is removed';
  const remedy = `Check adminPage.openid in the settings file and the network; ${others}.`;
  const text = `${adminOpenid.issuer} cannot be used: ${problem.text}`;
  return [problem.isFault || !passwordSignIn ? fault(text, remedy) : warning(text, remedy)];
}

function checkAdminPassword(settings: Settings): Finding[] {
  if (settings.adminPassword === undefined) return [];
  const weakness = adminPasswordWeakness(settings);
  if (weakness === undefined) return [ok('is long enough')];
  const remedy = 'Set it to a longer one, and restart the server.';
  return [warning(`${weakness}, so it could be guessed`, remedy)];
}

function certificateFindings({ tls }: Settings, conditions: Condition[]): Finding[] {
  if (!tls) return [];
  const remedy = 'Renew it in the files of TLS_CERT and TLS_KEY, then send SIGHUP to the server.';
  const found = conditionFindings(conditions, ['certificateEnds']).map((finding) => ({ ...finding, remedy }));
  const end = new Date(tls.certificate.validTo).toISOString();
  return found.length > 0 ? found : [ok(`the certificate in TLS_CERT ends on ${end}`)];
}

async function connectionResults(
  settings: Settings,
  connection: ConnectionSettings,
  database: Database | undefined,
): Promise<DoctorResult[]> {
  const isEmbedded = connection.travelApi.url === 'embedded';
  if (isEmbedded && !database) return [];
  const travel = isEmbedded
    ? [ok('is the embedded service, which runs with the server')]
    : await checkTravel(settings, connection);
  // Without a travel API, each further call would end by its time limit only.
  if (travel.some(({ state }) => state === 'fault'))
    return toResults(`travel API of ${connection.id}`, travel);
  return [
    ...toResults(`travel API of ${connection.id}`, travel),
    ...toResults(`mapping of ${connection.id}`, await mappingFindings(settings, connection, database)),
  ];
}

async function checkTravel(settings: Settings, connection: ConnectionSettings): Promise<Finding[]> {
  const { keyEnv } = connection.travelApi;
  const { answer, latencyMs, clockDifferenceMs = 0 } = await probeTravel(settings, connection);
  const clock: Finding[] = [];
  if (Math.abs(clockDifferenceMs) > CLOCK_TOLERANCE_MS) {
    const seconds = Math.round(clockDifferenceMs / 1_000);
    const text = `its clock differs by ${seconds} s from the clock of this machine`;
    clock.push(warning(text, 'Synchronize the clock of this machine (NTP).'));
  }
  if (answer.kind === 'ok')
    return [
      ok(`answers in ${latencyMs} ms and accepts ${keyEnv}`),
      ...clock,
      ...errorFindings(connection, await probeErrorResponses(settings, connection)),
    ];
  if (answer.kind === 'unauthorized') {
    const remedy = `Set ${keyEnv} to a valid credential and restart the server.`;
    return [fault(`refuses the credential in ${keyEnv} (401)`, remedy), ...clock];
  }
  const text =
    answer.kind === 'unavailable'
      ? answer.text
      : `does not tell whose credential ${keyEnv} is (${answer.kind})`;
  return [fault(text, travelRemedy(connection, text)), ...clock];
}

/** Compares the error responses of the travel API with its profile. */
function errorFindings({ travelApi: { profile } }: ConnectionSettings, responses: ErrorResponses): Finding[] {
  if (responses === 'gateway')
    return [
      warning(
        'answers 403 or 404 without an error code to the id of a traveler, also to that of the bridge’s own user',
        'Check what stands between this machine and the travel API, what the credential may read, and travelApi.paths.users.',
      ),
    ];
  if (responses !== 'bare' || profile !== 'jetbridge') return [];
  return [
    warning(
      'answers without an error code for a traveler that does not exist',
      'If it never sends error codes, its profile must say so (docs/travel-apis.md): until then a 403 is tried again.',
    ),
  ];
}

function travelRemedy({ id, travelApi }: ConnectionSettings, text: string): string {
  if (/CERT|SIGNATURE|ALTNAME|SSL|TLS/.test(text))
    return 'Name the certificate authority of the travel API in NODE_EXTRA_CA_CERTS, or renew its certificate.';
  const url = hideUrlCredentials(travelApi.url);
  return `Check the URL ${url} and travelApi.paths of the connection ${id}, and the network, or try again later.`;
}

async function mappingFindings(
  settings: Settings,
  connection: ConnectionSettings,
  database: Database | undefined,
): Promise<Finding[]> {
  // Without the database, the mapping in force is unknown.
  if (!database && !connection.mapping) return [];
  const { faults, warnings } = await checkMapping(settings, connection, { database });
  const textOf = ({ file, path, problem }: Fault) => `${file} ${path}: ${problem}`;
  const ofNames = [
    ...faults.map((found) => fault(textOf(found), found.remedy)),
    ...warnings.map((found) => warning(textOf(found), found.remedy)),
  ];
  const sample = database && (await translateSample({ settings, database, connection }, SAMPLE));
  if (!sample || sample.findings.size === 0) {
    const text = sample ? `translates ${sampleText(sample)} without findings` : 'was not tried with people';
    return ofNames.length > 0 ? ofNames : [ok(text)];
  }
  const kinds = [...sample.findings].map(([code, count]) => `${code} ${count}`).join(', ');
  const remedy = `See the people with: npx jetbridge preview --people --connection ${connection.id}`;
  return [...ofNames, warning(`findings about ${sampleText(sample)}: ${kinds}`, remedy)];
}

/** Says of how many people the translation was tried, and which. */
function sampleText({ people, total }: SampleFindings): string {
  if (people >= total) return peopleText(people);
  return `${people} of ${peopleText(total)}, those who were created first,`;
}

function peopleText(count: number): string {
  return count === 1 ? '1 person' : `${count} people`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / MEGABYTE)} MB`;
}

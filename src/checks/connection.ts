import type { Fault } from '../config/faults.ts';
import { type ConnectionSettings, MAPPING_IN_FORCE, type Settings } from '../config/settings.ts';
import type { TravelFailure } from '../model/travel-ports.ts';
import { findNameFaults, findUnknownGroups } from '../provisioning/rules/check-mapping.ts';
import type { Database } from '../store/sql/database.ts';
import { NoDatabase } from '../store/sql/migrate.ts';
import { findUndeclaredNames } from '../translator/mapping/extension-names.ts';
import type { MappingFault } from '../translator/mapping/mapping-faults.ts';
import type { Mapping } from '../translator/mapping/mapping-file.ts';
import type { NameFault } from '../translator/rules/check-names.ts';
import { findUnknownGroupNames, readConnectionMapping, readLookups } from './mapping.ts';
import { probeTravel } from './travel-api.ts';

/** The result of the check of a connection: of its credential, and of the names in its mapping. */
export interface ConnectionCheck {
  faults: Fault[];
  /** Names that are allowed but probably misspelled. */
  warnings: Fault[];
  /** The parts that could not be checked, each with the reason. */
  unchecked: { subject: 'credential' | 'names'; reason: UncheckedReason }[];
}

/** `offline`: no call was wanted; `neverStarted`: the embedded travel service has no database yet. */
type UncheckedReason = 'offline' | 'neverStarted' | TravelFailure;

interface CheckOptions {
  /** True if neither a travel API nor the database may be called. */
  isOffline?: boolean;
  /** The database of the settings, if the caller has opened it. */
  database?: Database | undefined;
}

/** Tries the credential of a connection, and checks its mapping. */
export async function checkConnection(
  settings: Settings,
  connection: ConnectionSettings,
  options: CheckOptions = {},
): Promise<ConnectionCheck> {
  const credential = await checkCredential(settings, connection, options);
  const { warnings, faults, unchecked } = await checkMapping(settings, connection, options);
  return {
    warnings,
    faults: [...credential.faults, ...faults],
    unchecked: [...credential.unchecked, ...unchecked],
  };
}

/** Finds the names in a mapping that are allowed but probably misspelled: attributes that no schema has, and groups. */
export async function findUnknownNames(
  settings: Settings,
  connection: ConnectionSettings,
  { mapping, isOffline, database }: CheckOptions & { mapping: Mapping },
): Promise<MappingFault[]> {
  const groups = isOffline
    ? []
    : await findUnknownGroups(mapping, (names) =>
        findUnknownGroupNames(settings, connection, { names, database }),
      );
  return [...findUndeclaredNames(mapping), ...groups];
}

type Found = Pick<ConnectionCheck, 'faults' | 'unchecked'>;

const nothingFound: Found = { faults: [], unchecked: [] };

/** The bridge makes its credential for the embedded service itself, so that one is not tried. */
async function checkCredential(
  settings: Settings,
  connection: ConnectionSettings,
  { isOffline }: CheckOptions,
): Promise<Found> {
  const { url, keyEnv } = connection.travelApi;
  if (url === 'embedded') return nothingFound;
  if (isOffline) return { faults: [], unchecked: [{ subject: 'credential', reason: 'offline' }] };
  const { answer } = await probeTravel(settings, connection);
  if (answer.kind === 'ok') return nothingFound;
  if (answer.kind !== 'unauthorized')
    return { faults: [], unchecked: [{ subject: 'credential', reason: answer }] };
  const problem = `is refused by the travel API of the connection ${connection.id} (401)`;
  const remedy = 'Set it to a valid credential of the travel API.';
  return { faults: [{ file: 'environment', path: keyEnv, problem, remedy }], unchecked: [] };
}

/** Looks up each name of the mapping. Calls the travel API only if the mapping names something in it. */
export async function checkMapping(
  settings: Settings,
  connection: ConnectionSettings,
  { isOffline = false, database }: CheckOptions = {},
): Promise<ConnectionCheck> {
  const { id, mappingFile = MAPPING_IN_FORCE } = connection;
  const mapping = isOffline
    ? connection.mapping
    : await readConnectionMapping(settings, connection, database);
  if (!mapping) return { faults: [], warnings: [], unchecked: [{ subject: 'names', reason: 'offline' }] };
  const toFaults = (found: NameFault[]): Fault[] =>
    found.map(({ path, problem, remedy, origin }) => {
      const file = origin === 'file' ? mappingFile : `connection ${id}:`;
      return { file, path, problem, remedy };
    });
  const { faults, unchecked } = await findNameFaults<UncheckedReason>(mapping, async () => {
    if (isOffline) return { unchecked: 'offline' };
    try {
      const read = await readLookups(settings, connection, database);
      return read.kind === 'ok' ? { lookups: read.value } : { unchecked: read };
    } catch (error) {
      if (error instanceof NoDatabase) return { unchecked: 'neverStarted' };
      throw error;
    }
  });
  const warnings = await findUnknownNames(settings, connection, { mapping, isOffline, database });
  return {
    faults: toFaults(faults),
    warnings: warnings.map((warning) => ({ file: mappingFile, ...warning })),
    unchecked: unchecked === undefined ? [] : [{ subject: 'names', reason: unchecked }],
  };
}

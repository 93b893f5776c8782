import type { Connection } from '../../provisioning/connection.ts';
import type { Memberships } from '../../provisioning/groups/group-ports.ts';
import type { Identity } from '../../provisioning/identity.ts';
import type { MappingPreview } from '../../provisioning/rules/preview-mapping.ts';
import type { PersonPreview } from '../../provisioning/rules/preview-person.ts';
import type { RulesSnapshot } from '../../provisioning/rules/rules-snapshot.ts';
import type { Identities, References } from '../../provisioning/store-ports.ts';
import type { TravelAnswer } from '../../provisioning/travel-ports.ts';
import type { MappingFault } from '../../translator/mapping/mapping-faults.ts';
import type { Mapping } from '../../translator/mapping/mapping-file.ts';
import type { Lookups } from '../../translator/translation.ts';
import type { TravelUser } from '../../translator/traveler.ts';

// The tasks that compute with mappings run in a thread: they get and return data only. The database stays in the main thread, which the
// thread asks for it.

/** The reads of the database that a task may ask for. */
export interface StoredReads
  extends Pick<
    Identities,
    'findById' | 'find' | 'findHolder' | 'isErased' | 'isWaitedFor' | 'findWaiters' | 'findPage'
  > {
  findReferenceRows: References['findRows'];
  findMemberships: Memberships['findOf'];
  findUnknownGroupNames: Memberships['findUnknownNames'];
}

/** A connection without its functions. */
export type ConnectionData = Omit<Connection, 'travel' | 'lookups' | 'feed'>;

/** Rules before they are compiled. */
export interface RulesData extends Omit<RulesSnapshot, 'rules'> {
  mapping: Mapping;
}

/** The faults of a mapping text, for which nothing was computed. */
interface Faulty {
  faults: MappingFault[];
}

/** The lookups of the travel service, or why they cannot be read. */
export type KnownNames = { lookups: Lookups } | { unchecked: string };

/** The result of a check. `needsNames`: the mapping has names, and no lookups were given. */
export interface CheckedMapping {
  faults: MappingFault[];
  warnings: MappingFault[];
  unchecked?: string | undefined;
  needsNames?: true;
  /** The mapping, unless the text is not one. */
  mapping?: Mapping;
}

/** The input that both previews share: the text of the next mapping, and the mapping in force. */
export interface PreviewInput {
  text: string;
  connection: ConnectionData;
  inForce: RulesData;
}

/** The tasks of the thread: what each gets and returns. */
export interface Tasks {
  check: { input: { text: string; connection: string; names?: KnownNames }; result: CheckedMapping };
  previewPerson: { input: PreviewInput & { identity: Identity }; result: Faulty | PersonPreview };
  previewEverybody: {
    input: PreviewInput & { ownUser: TravelAnswer<TravelUser>; examples: number; maxMs: number };
    result: Faulty | MappingPreview;
  };
}

/** The caller of a task, the reads of the database that it may ask for, and the signal that ends it. */
export interface TaskContext {
  /** The account or token. A caller with many tasks does not keep others from theirs. */
  caller: string;
  reads: StoredReads;
  signal: AbortSignal;
}

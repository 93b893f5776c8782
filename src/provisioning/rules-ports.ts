import type { Lookups } from '../translator/translation.ts';

/** The mapping and the lookups in force for one connection. All replicas translate with them. */
export interface RulesInForce {
  /** 1 for the first rules of the connection; each change raises it by one. */
  generation: number;
  /** The edition of the code that put the mapping in force: another edition may translate with it otherwise. */
  edition: number;
  /** The digest of edition and mapping. */
  digest: string;
  /** The mapping as JSON, as in a mapping file. */
  mapping: unknown;
  /** Undefined until they have been read for the first time. */
  lookups: Lookups | undefined;
  /** The source of the mapping. Only a mapping from a file gives way to a file with an earlier content. */
  source: MappingSource;
}

/** `default`: the default rules, because no mapping file was named when the connection was used first. */
export type MappingSource = 'file' | 'command' | 'default';

/** The facts that decide whether a mapping file comes into force, without the content of the rules in force. */
export interface RulesHead extends Pick<RulesInForce, 'generation' | 'edition' | 'digest' | 'source'> {
  /**
   * The time since a replica last had a mapping file with this content, or used the mapping without a file, in
   * milliseconds.
   */
  fileAgeMs: number;
}

/** A mapping that was or is in force. */
export interface MappingVersion {
  /** The generation with which it came into force. */
  generation: number;
  edition: number;
  digest: string;
  mapping: unknown;
  source: MappingSource;
  appliedAt: number;
  /**
   * The author of the change: the user of the operating system who gave the command, or the account or token on the admin page;
   * undefined for a file and the default rules.
   */
  author: string | undefined;
}

/**
 * The store of the rules in force, one row for each connection, and of the history of mappings. The generation decides
 * between replicas that change the rules at the same time.
 */
export interface RulesStore {
  findHead(connection: string, now: number): Promise<RulesHead | undefined>;
  find(connection: string): Promise<RulesInForce | undefined>;
  /**
   * Puts these rules in force if the generation in force is one less (0: there is none). Returns false otherwise. A
   * mapping with another digest than the one before is added to the history, with the author.
   */
  replace(connection: string, next: RulesInForce, now: number, author?: string): Promise<boolean>;
  /** True if a mapping with this digest is in the history. */
  wasInForce(connection: string, digest: string): Promise<boolean>;
  /** Returns the history of the mapping, the newest first. */
  listMappings(connection: string, limit: number): Promise<MappingVersion[]>;
  /** Records that a replica has a mapping file with the content in force, or uses it without a file. */
  recordFile(connection: string, digest: string, now: number): Promise<void>;
  /** Records that no other process has a mapping file: only this one uses the database. */
  forgetFiles(): Promise<void>;
}

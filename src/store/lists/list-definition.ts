import type { Kysely, RawBuilder } from 'kysely';
import type { ListQuery } from '../../provisioning/list-ports.ts';
import type { Scope } from '../connection-scopes.ts';
import type { Tables } from '../tables.ts';

/** A part of a statement. */
export type Sql = RawBuilder<unknown>;

/** What a list is made of: a table, what of it is shown, and which columns answer and order it. */
export interface ListDefinition<Field extends string, By extends string, Row> {
  table: 'identity' | 'scim_group';
  /** What rows have that are listed at all. */
  live: Sql;
  /** The columns of a row. */
  columns: Sql;
  toRow(raw: object): Row;
  fields: Record<Field, Column | OwnedColumn>;
  orders: Record<By, OrderColumn>;
  /** How many match, where that is known without looking at rows. */
  total(scope: ListScope, where: ListQuery<Field, By>['where']): Promise<number | undefined>;
  /** A place in the stable order before which no more than `offset` match, and how many of these are left to pass over. */
  jump(
    scope: ListScope,
    where: ListQuery<Field, By>['where'],
    offset: number,
  ): Promise<{ position: number; skip: number }>;
}

/** The part of a database that a list is read from. */
export interface ListScope extends Scope {
  db: Kysely<Tables>;
}

/** A column that answers a comparison, and the spelling of values in it. */
export interface Column {
  column: string;
  /** No two rows have the same value. */
  unique: boolean;
  key(value: string | number | boolean): string | number;
  /** How good a lead it is: 1 finds one row, more finds more; undefined: too many to be a lead. */
  lead: number | undefined;
}

/** A column of rows in another table that belong to a row of this one. */
export interface OwnedColumn extends Column {
  owned: { table: 'identity_email' | 'group_member'; owner: string };
}

/** A column that an index has in order. */
export interface OrderColumn {
  column: string;
  /** No two rows have the same value. */
  unique: boolean;
  /** Rows may have no value. */
  nullable: boolean;
  /** The field whose comparisons an index answers before it orders. */
  field: string | undefined;
}

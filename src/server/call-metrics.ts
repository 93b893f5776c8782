import { Counter, Histogram } from 'prom-client';
import type { EndedMeasurement } from '../adapter/http/measured-call.ts';
import type { HttpMetrics } from '../http/monitoring.ts';
import type { Database } from '../store/sql/database.ts';
import { databaseFacts } from '../store/sql/database-facts.ts';
import { joinReads, registerGauge } from './gauges.ts';

/** Registers the metrics of calls to travel APIs. Returns the function that counts one call of a connection. */
export function countTravelCalls({
  registry,
}: HttpMetrics): (connection: string, call: EndedMeasurement) => void {
  const calls = new Counter({
    name: 'jetbridge_travel_calls_total',
    help: 'Calls to the travel API, by connection, operation and outcome.',
    labelNames: ['connection', 'operation', 'outcome'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'jetbridge_travel_call_duration_seconds',
    help: 'Time from the request of a call to the travel API to the end of its answer, without the wait for a free slot.',
    labelNames: ['connection', 'operation'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return (connection, { operation, outcome, seconds }) => {
    calls.inc({ connection, operation, outcome });
    if (seconds !== undefined) durations.observe({ connection, operation }, seconds);
  };
}

/** Registers the metrics of the database: its kind and size, the latency of transactions, and the pool of connections. */
export function registerDatabaseMetrics(metrics: HttpMetrics, database: Database): void {
  const facts = joinReads(() => databaseFacts(database));
  registerGauge(metrics, {
    name: 'jetbridge_database_info',
    help: 'The database: always 1; the labels have its kind and version.',
    labels: ['kind', 'version'],
    read: async () => {
      const [kind = '', version = ''] = (await facts()).name.split(' ');
      return [{ kind: kind.toLowerCase(), version, count: 1 }];
    },
  });
  registerGauge(metrics, {
    name: 'jetbridge_database_size_bytes',
    help: 'The size of the database.',
    read: async () => [{ count: (await facts()).bytes }],
  });
  const durations = new Histogram({
    name: 'jetbridge_database_transaction_duration_seconds',
    help: 'Time from the begin of a transaction to the end of its commit, the wait for its turn included.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    registers: [metrics.registry],
  });
  database.onTransaction((ms) => durations.observe(ms / 1000));
  const { pool } = database;
  if (!pool) return;
  registerGauge(metrics, {
    name: 'jetbridge_database_pool_connections',
    help: 'Connections of this process to PostgreSQL, by state.',
    labels: ['state'],
    read: () => (['used', 'idle'] as const).map((state) => ({ state, count: pool()[state] })),
  });
  registerGauge(metrics, {
    name: 'jetbridge_database_pool_waiting',
    help: 'Work of this process that waits for a connection to PostgreSQL.',
    read: () => [{ count: pool().waiting }],
  });
}

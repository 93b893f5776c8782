import Table from 'cli-table3';
import type { Identity } from '../bridge/identity.ts';
import type { TravelUser } from '../translator/travel-user.ts';
import { inLine } from './escape.ts';

interface People {
  people: Identity[];
  travelers: TravelUser[];
  /** What was recorded of the exchanges, in order; the first word of each is somebody's given name. */
  notes: string[];
}

/** Everybody whom an IdP spoke of: what it said, what the travel service now holds, and what was left out and why. */
export function peopleTable({ people, travelers, notes }: People): string {
  const table = new Table({
    head: ['person', 'what the IdP said', 'what the travel service holds', 'left out, and why'],
    colWidths: [16, 36, 42, 42],
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
      inLine(names.get(identity.travelId ?? '') ?? given),
      notes
        .filter((note) => note.startsWith(`${given} `))
        .map(inLine)
        .join('\n') || 'joins',
      traveler ? holding(traveler, names) : 'nothing yet',
      identity.findings.map(leftOut).join('\n') || '-',
    ]);
  }
  return table.toString();
}

function leftOut({ field, value, reason }: Identity['findings'][number]): string {
  return inLine(`${field}${typeof value === 'string' ? ` "${value}"` : ''}: ${reason}`);
}

function givenName({ desired }: Identity): string {
  const { name } = desired;
  const given = typeof name === 'object' && name && !Array.isArray(name) ? name.givenName : undefined;
  return typeof given === 'string' ? given : String(desired.userName);
}

function holding(traveler: TravelUser, names: Map<string, string>): string {
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
    .map(([label, value]) => inLine(`${label}: ${value}`))
    .join('\n');
}

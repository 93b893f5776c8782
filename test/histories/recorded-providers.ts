import { type Call, type IdentityProviders, identityProviders, type Person } from './identity-providers.ts';
import { type HistoryRecord, recordWrite } from './record.ts';
import { toUserLine, type WantedUser } from './wanted-user.ts';

interface Deps {
  call: Call;
  record: HistoryRecord;
  people: readonly Person[];
  /** Writes a line into the transcript. */
  note(line: string): void;
}

/** Creates the IdPs of a history, whose acknowledged writes are recorded. */
export function recordedProviders({ call, record, people, note }: Deps): IdentityProviders {
  return identityProviders({
    call,
    onAcknowledged: (person, before, verb) => {
      recordWrite(record, person, before?.wanted, verb);
      const { index, current } = person;
      note(`  p${index}: ${verb} is answered: ${toUserLine(current?.wanted)} (${current?.id ?? before?.id})`);
    },
    isGuarded: (travelId) => travelId !== undefined && record.guarded.has(travelId),
    mayConflict: (person, { connection, wanted }) =>
      people.some(
        ({ index, current, unanswered }) =>
          index !== person.index &&
          // A write that is not answered yet may be committed.
          [current, unanswered].some((one) => one !== undefined && one.connection !== connection) &&
          addressesOf(wanted).some(
            (address) =>
              record.emails.get(index)?.has(address) || addressesOf(unanswered?.wanted).includes(address),
          ),
      ),
  });
}

function addressesOf(wanted: WantedUser | undefined): string[] {
  return wanted ? [wanted.email, wanted.userName] : [];
}

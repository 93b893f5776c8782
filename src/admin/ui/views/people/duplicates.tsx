import { Code } from '@mantine/core';
import type { Duplicate } from '../../../../operations/people/duplicates.ts';
import { type Column, PagedRows } from '../../components/rows.tsx';
import { Breakable, Dim, PersonName } from '../../components/text.tsx';
import { toWords } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { usePages } from '../../requests/queries.ts';

/** The pairs of people who may be one, each with the command that joins them. */
export function DuplicatesView() {
  const pairs = usePages('listDuplicates', {}, { refetchOnWindowFocus: false });
  return (
    <>
      <ViewHead title="Possible duplicates">
        People of one travel account who share an address, an employee number, or names and department.
        Nothing is changed here.
      </ViewHead>
      <PagedRows
        query={pairs}
        rowsOf={(page) => page.pairs}
        older="Compare further people"
        label="Possible duplicates"
        keyOf={({ kind, value, one, other }) => JSON.stringify([kind, value, one.id, other.id])}
        columns={columns}
        empty="No two of the people that were compared share any of these."
      />
    </>
  );
}

const columns: Column<Duplicate>[] = [
  {
    label: 'Both have',
    width: '22%',
    cell: ({ kind, value }) => (
      <>
        {toWords(kind)} <Breakable text={value} />
      </>
    ),
  },
  { label: 'Person', width: '20%', cell: ({ one }) => <Member person={one} /> },
  { label: 'Other person', width: '20%', cell: ({ other }) => <Member person={other} /> },
  {
    label: 'Join them with',
    cell: ({ join }) =>
      join === undefined ? (
        <Dim>
          not possible now: one must be an active user, the other one inactive or a traveler without a user
        </Dim>
      ) : (
        <Code style={{ overflowWrap: 'anywhere' }}>{join}</Code>
      ),
  },
];

function Member({ person: { isUnmanaged, isActive, ...person } }: { person: Duplicate['one'] }) {
  return (
    <>
      <PersonName {...person} />{' '}
      <Dim>{isUnmanaged ? 'without a user' : isActive ? 'active' : 'inactive'}</Dim>
    </>
  );
}

import { Alert, Stack, Switch as SwitchField, Text } from '@mantine/core';
import type { Group, GroupMember, GroupRule } from '../../../../operations/travel/lists.ts';
import { useAddressFilter } from '../../components/filters.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Dim, personHref, Section, Time, ViewLink } from '../../components/text.tsx';
import { countText, numberText } from '../../components/texts.ts';
import { SearchedRows } from '../../components/virtual-rows.tsx';
import { usePages, useRead } from '../../requests/queries.ts';
import { ruleHref } from '../mappings/links.ts';
import { PartHead } from '../travel/resource.tsx';
import { groupRuleText, ruleTarget } from './texts.ts';

/** The groups that the identity provider has sent, or the one of the address. */
export function Groups({ connection, id }: { connection: string; id: string | undefined }) {
  if (id === undefined) return <GroupList connection={connection} />;
  return <GroupDetails connection={connection} id={id} />;
}

function groupHref(connection: string, id: string): string {
  return `/${connection}/groups/${encodeURIComponent(id)}`;
}

function GroupList({ connection }: { connection: string }) {
  const [{ search, used }, change] = useAddressFilter<{ search?: string; used?: string }>(['search', 'used']);
  const query = { connection, limit: 100, ...(search && { search }), ...(used && { used: 'true' as const }) };
  const list = usePages('listGroups', query, { refetchOnWindowFocus: false });
  const [first] = list.data?.pages ?? [];
  return (
    <>
      <Text c="dimmed" mb="xs">
        {first && first.total > 0 && `The identity provider has sent ${countText(first.total, 'group')}. `}A
        group has an effect only where a rule reads it.
      </Text>
      <UnknownRules reason={first?.unread} />
      <SearchedRows
        query={list}
        rowsOf={(page) => page.groups}
        label="Groups"
        columns={columnsOf(connection)}
        search={search}
        onSearch={(text) => change({ search: text })}
        empty={
          used
            ? 'No rule of the mapping reads a group that was sent.'
            : 'The identity provider has sent no group yet. In Okta groups are pushed, and in Entra ID they are assigned to the application.'
        }
      >
        <SwitchField
          size="xs"
          label="Only those that rules read"
          checked={used === 'true'}
          onChange={({ currentTarget: { checked } }) => change({ used: checked ? 'true' : null })}
        />
      </SearchedRows>
    </>
  );
}

function UnknownRules({ reason }: { reason: string | undefined }) {
  return (
    reason && (
      <Alert color="orange" mb="sm">
        ⚠ {reason}
      </Alert>
    )
  );
}

function columnsOf(connection: string): Column<Group>[] {
  return [
    {
      label: 'Name',
      width: '36%',
      cell: ({ id, name }) => <ViewLink href={groupHref(connection, id)}>{name}</ViewLink>,
    },
    { label: 'Members', width: '12%', cell: ({ members }) => numberText(members) },
    {
      label: 'Rules that read it',
      cell: ({ rules }) =>
        rules.length === 0 ? <Dim>–</Dim> : <RuleLinks connection={connection} rules={rules} />,
    },
    { label: 'Changed', width: '14%', cell: ({ lastModified }) => <Time at={lastModified} /> },
  ];
}

function RuleLinks({ connection, rules }: { connection: string; rules: GroupRule[] }) {
  return rules.map((rule, index) => (
    <span key={`${ruleTarget(rule)} ${groupRuleText(rule)}`}>
      {index > 0 && ', '}
      <RuleLink connection={connection} rule={rule} />
    </span>
  ));
}

/** The field that a rule sets. It leads to the rule in Mappings. */
function RuleLink({ connection, rule }: { connection: string; rule: GroupRule }) {
  const { field } = rule;
  const href =
    field === undefined
      ? `~/admin/mappings?connection=${encodeURIComponent(connection)}`
      : ruleHref({ connection }, { ...rule, field });
  return (
    <ViewLink isInText href={href} title={groupRuleText(rule)}>
      {ruleTarget(rule)}
    </ViewLink>
  );
}

function GroupDetails({ connection, id }: { connection: string; id: string }) {
  const group = useRead('readGroup', { connection, group: id });
  return (
    <>
      <PartHead list={`/${connection}/groups`} label="Groups">
        {group.data?.group.name ?? id}
      </PartHead>
      <Loaded query={group}>
        {({ group: { rules, members, lastModified }, unread }) => (
          <Stack gap="md">
            <Text c="dimmed">
              {countText(members, 'member')}, changed <Time at={lastModified} />.
            </Text>
            <UnknownRules reason={unread} />
            <Section title="Rules that read it">
              <Rows
                label="Rules that read it"
                rows={rules}
                keyOf={(rule) => `${ruleTarget(rule)} ${groupRuleText(rule)}`}
                columns={[
                  {
                    label: 'Sets',
                    width: '25%',
                    cell: (rule) => <RuleLink connection={connection} rule={rule} />,
                  },
                  { label: 'Rule', width: '75%', cell: groupRuleText },
                ]}
                empty="No rule of the mapping in force reads this group: it has no effect."
              />
            </Section>
            <Section title="Members">
              <Members connection={connection} id={id} />
            </Section>
          </Stack>
        )}
      </Loaded>
    </>
  );
}

function Members({ connection, id }: { connection: string; id: string }) {
  const [{ search }, change] = useAddressFilter<{ search?: string }>(['search']);
  const members = usePages(
    'listGroupMembers',
    { connection, group: id, limit: 200, ...(search && { search }) },
    { refetchOnWindowFocus: false },
  );
  return (
    <SearchedRows
      query={members}
      rowsOf={(page) => page.members}
      label="Members"
      columns={[
        { label: 'Name', width: '45%', cell: (member) => <MemberName connection={connection} {...member} /> },
        { label: 'userName', cell: ({ userName, kind }) => userName ?? <Dim>{kinds[kind]}</Dim> },
      ]}
      search={search}
      onSearch={(text) => change({ search: text })}
      empty="The group has no members."
    />
  );
}

const kinds: Record<GroupMember['kind'], string> = {
  person: '–',
  group: 'a group, whose members are not members of this one',
  unknown: 'nobody has this id',
};

function MemberName({ connection, id, kind, name }: GroupMember & { connection: string }) {
  if (kind === 'unknown') return name;
  return (
    <ViewLink href={kind === 'person' ? personHref(connection, id) : groupHref(connection, id)}>
      {name}
    </ViewLink>
  );
}

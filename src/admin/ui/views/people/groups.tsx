import { Alert, Select, Stack, Switch as SwitchField, Text } from '@mantine/core';
import { Route, Switch } from 'wouter';
import { fieldLabel } from '../../../../model/value-texts.ts';
import type { Group, GroupMember, GroupRule } from '../../../../operations/people/groups.ts';
import { useAddressFilter } from '../../components/filters.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, Rows } from '../../components/rows.tsx';
import { Dim, personHref, Section, Time, ViewLink } from '../../components/text.tsx';
import { countText, numberText, withShortUrns } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { SearchedRows } from '../../components/virtual-rows.tsx';
import { usePages, useRead } from '../../requests/queries.ts';
import { ruleHref } from '../mappings/rules/links.ts';

/** The groups that an identity provider has sent, or the one that the address names. */
export function GroupsView() {
  const connections = useRead('listConnections', {});
  return (
    <Switch>
      <Route path="/:connection/:id">{(group) => <GroupView key={group.id} {...group} />}</Route>
      <Route>
        <Loaded query={connections}>
          {(data) => <Groups connections={data.connections.map(({ id }) => id)} />}
        </Loaded>
      </Route>
    </Switch>
  );
}

function Groups({ connections }: { connections: string[] }) {
  const [{ connection }, change] = useAddressFilter<{ connection?: string }>(['connection']);
  const chosen = connections.find((id) => id === connection) ?? connections[0];
  return (
    <>
      <ViewHead
        title="Groups"
        actions={
          connections.length > 1 && (
            <Select
              size="xs"
              aria-label="Connection"
              data={connections}
              value={chosen ?? null}
              onChange={(id) => change({ connection: id })}
            />
          )
        }
      >
        A group has an effect only where a rule reads it.
      </ViewHead>
      {chosen && <GroupList key={chosen} connection={chosen} />}
    </>
  );
}

function groupHref(connection: string, id: string): string {
  return `~/admin/people/groups/${encodeURIComponent(connection)}/${encodeURIComponent(id)}`;
}

function GroupList({ connection }: { connection: string }) {
  const [{ search, used }, change] = useAddressFilter<{ search?: string; used?: string }>(['search', 'used']);
  const query = { connection, limit: 100, ...(search && { search }), ...(used && { used: 'true' as const }) };
  const list = usePages('listGroups', query, { refetchOnWindowFocus: false });
  const [first] = list.data?.pages ?? [];
  return (
    <>
      <UnknownRules reason={first?.unread} />
      {first && first.missing.length > 0 && (
        <Alert color="orange" mb="sm" title="⚠ The mapping names groups that do not exist">
          {first.missing.join(', ')}
        </Alert>
      )}
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
      cell: ({ rules }) => rules.length > 0 && <RuleLinks connection={connection} rules={rules} />,
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
      ? rule.isPilot
        ? `~/admin/shadow/${encodeURIComponent(connection)}`
        : `~/admin/mappings?connection=${encodeURIComponent(connection)}`
      : ruleHref({ connection }, { ...rule, field });
  return (
    <ViewLink isInText href={href} title={groupRuleText(rule)}>
      {ruleTarget(rule)}
    </ViewLink>
  );
}

/** A group with its rules and its members. */
export function GroupView({ connection, id }: { connection: string; id: string }) {
  const group = useRead('readGroup', { connection, group: id });
  return (
    <>
      <ViewHead
        title={group.data?.group.name ?? id}
        back={{ href: `/?connection=${encodeURIComponent(connection)}`, label: 'Groups' }}
      />
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

/** Returns what a rule sets: the name of its field, or that it is the scope or the pilot. */
function ruleTarget({ field, fieldName: name, isPilot }: GroupRule): string {
  if (field === undefined) return isPilot ? 'pilot' : 'scope';
  return name ?? fieldLabel(field, {});
}

/** Returns a rule in one line. */
function groupRuleText({ rule, when }: GroupRule): string {
  return withShortUrns(when === undefined ? rule : `${rule} when ${when}`);
}

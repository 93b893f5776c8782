import { Code, Group, Stack, Text, Title } from '@mantine/core';
import { useLocation } from 'wouter';
import type { ResourceList } from '../../../../operations/travel/lists.ts';
import { ConfirmButton, DialogButton } from '../../components/dialogs.tsx';
import { Loaded } from '../../components/loading.tsx';
import { Section, ViewLink } from '../../components/text.tsx';
import { useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { callTravel, type TravelResource, useTravel } from '../../requests/travel.ts';
import { type Kind, titleOf } from './description.ts';
import { ResourceForm } from './form.tsx';
import { Itinerary, itineraryMembers } from './itinerary.tsx';
import { Places } from './lists.tsx';
import { ResourceTable } from './table.tsx';
import { Field, Fields, useDescription } from './values.tsx';
import { WebhookActions } from './webhooks.tsx';

/** One resource: its fields, what can be done with it, and the lists below it. `path` is that of its list. */
export function ResourceDetail({ kind, path, id }: { kind: Kind; path: string; id: string }) {
  const { kinds } = useDescription();
  const at = `${path}/${encodeURIComponent(id)}`;
  const resource = useTravel<{ data: TravelResource }>(at);
  const canChange = useIsAdmin() && kind.written !== undefined;
  const isPart = kind.path.includes('{');
  return (
    <Stack gap="md">
      <div>
        <ViewLink href={isPart ? path.slice(0, path.lastIndexOf('/')) : path}>
          ← {isPart ? 'Back' : kind.label}
        </ViewLink>
        <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
          {resource.data ? titleOf(resource.data.data) : id}
        </Title>
      </div>
      <Loaded query={resource} title={`This ${kind.one} could not be read`}>
        {({ data }) => (
          <>
            {canChange && <Actions {...{ kind, at }} resource={data} list={path} />}
            {kind.type === 'tripProject' && <Itinerary trip={data} />}
            <Fields
              resource={data}
              schema={kind.schema}
              {...(kind.type === 'tripProject' && { hidden: itineraryMembers })}
            >
              {kind.type === 'user' && (
                <Field label="Person">
                  <ViewLink
                    isInText
                    href={`~/admin/people?${new URLSearchParams({ search: String(data['email']) })}`}
                  >
                    Who the identity provider says this is
                  </ViewLink>
                </Field>
              )}
              <PlacesField kind={kind} resource={data} />
            </Fields>
            {kind.parts.map((part) => {
              const of = kinds.get(part.type);
              return (
                of && (
                  <Section key={part.path} title={of.label}>
                    <ResourceTable kind={of} path={part.path.replace('{id}', encodeURIComponent(id))} />
                  </Section>
                )
              );
            })}
            <details>
              <Text component="summary" style={{ cursor: 'pointer', overflowWrap: 'anywhere' }}>
                As GET /api{at} answers it
              </Text>
              <Code block mt="xs" tabIndex={0}>
                {JSON.stringify(data, null, 2)}
              </Code>
            </details>
          </>
        )}
      </Loaded>
    </Stack>
  );
}

/** The member that takes a resource out of use, and the words for it. */
const switches = {
  archived: { off: 'Archive', on: 'Restore' },
  disabled: { off: 'Disable', on: 'Enable' },
};

interface ActionsProps {
  kind: Kind;
  resource: TravelResource;
  /** The path of the resource, and that of its list. */
  at: string;
  list: string;
}

function Actions({ kind, resource, at, list }: ActionsProps) {
  const [, navigate] = useLocation();
  const name = titleOf(resource);
  const members = kind.written?.properties ?? {};
  const member = 'archived' in members ? 'archived' : 'disabled' in members ? 'disabled' : undefined;
  const isOff = member !== undefined && resource[member] === true;
  return (
    <Group gap="xs">
      <DialogButton label="Edit…">
        {(close) => <ResourceForm kind={kind} path={at} before={resource} onClose={close} />}
      </DialogButton>
      {member && (
        <ConfirmButton
          label={`${switches[member][isOff ? 'on' : 'off']}…`}
          title={`${switches[member][isOff ? 'on' : 'off']} the ${kind.one} ${name}?`}
          action={`${switches[member][isOff ? 'on' : 'off']} ${name}`}
          change={() => callTravel('PATCH', at, { [member]: !isOff })}
          isDestructive={!isOff}
        >
          <Text size="md">{isOff ? `The ${kind.one} is used again.` : switchedOff(kind)}</Text>
        </ConfirmButton>
      )}
      {kind.type === 'webhook' && <WebhookActions id={resource.id} url={name} />}
      <ConfirmButton
        label="Delete…"
        title={`Delete the ${kind.one} ${name}?`}
        action={`Delete ${name}`}
        change={() => callTravel('DELETE', at)}
        isDestructive
        onDone={() => navigate(list)}
      >
        <Text size="md">
          The {kind.one} goes for good. If something else refers to it, the travel service refuses.
        </Text>
      </ConfirmButton>
    </Group>
  );
}

function switchedOff({ type, one }: Kind): string {
  if (type === 'webhook') return 'Nothing is delivered any more until it is enabled again.';
  if (type === 'user')
    return 'The traveler can no longer travel. If an identity provider says that the person is active, the bridge may restore it.';
  return `What has the ${one} keeps it, but nothing gets it any more: a value of the identity provider that gives its name becomes a finding.`;
}

/** Where the mappings of connections with the embedded service name a resource. */
function PlacesField({ kind: { type }, resource }: { kind: Kind; resource: TravelResource }) {
  const list = listOf[type];
  const connections = useRead('listConnections', {}, { enabled: list !== undefined });
  if (!list) return null;
  const own = connections.data?.connections.filter(({ travelApi }) => travelApi === 'embedded') ?? [];
  const field = typeof resource['customFieldId'] === 'string' ? { field: resource['customFieldId'] } : {};
  return (
    <Field label="Named by the mapping">
      {own.map(({ id }) => (
        <Places key={id} connection={id} list={list} {...field} id={resource.id} name={titleOf(resource)} />
      ))}
    </Field>
  );
}

const listOf: Record<string, ResourceList | undefined> = {
  costCenter: 'costCenters',
  billingProfile: 'billingProfiles',
  travelPolicy: 'travelPolicies',
  customField: 'customFields',
  customFieldOption: 'customFieldOptions',
};

import {
  Alert,
  Anchor,
  Button,
  Grid,
  Group,
  Loader,
  SegmentedControl,
  Select,
  Stack,
  Text,
} from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { ListedMappingVersion } from '../../../../operations/mappings/mappings.ts';
import { DialogButton } from '../../components/dialogs.tsx';
import { Failure, Loaded } from '../../components/loading.tsx';
import { Time } from '../../components/text.tsx';
import { toChoices } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { call } from '../../requests/api.ts';
import { useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { ApplyDialog, EffectLine, useEffectOfMapping } from './changes/effect.tsx';
import { type Applied, MappingProgress } from './changes/progress.tsx';
import { ProposedNotice } from './changes/proposed.tsx';
import { authorOf, originOf, Versions } from './changes/versions.tsx';
import { useDraft, useFaults } from './editor/draft.ts';
import { MappingEditor } from './editor/editor.tsx';
import { FaultList } from './editor/faults.tsx';
import { PersonPanel, useExamplePerson } from './person-panel.tsx';
import { useFieldNames } from './rules/field-names.ts';
import { findLinkedRule, isLinkedRule, type LinkedRule, readLinkedRule } from './rules/links.ts';
import { parseRules } from './rules/rules.ts';
import { OtherRules } from './table/other-rules.tsx';
import { RulesTable } from './table/rules-table.tsx';

/** The mapping of a connection: edit it, see at once what it does, and put it in force. */
export function MappingsView() {
  const [search, setSearch] = useSearchParams();
  const mappings = useRead('listMappings', {});
  const asked = search.get('person') ?? '';
  const person = asked.slice(asked.lastIndexOf('/') + 1);
  const fromPerson = asked.slice(0, Math.max(asked.lastIndexOf('/'), 0));
  return (
    <Loaded query={mappings}>
      {(data) => {
        const ids = data.mappings.map(({ connection }) => connection);
        const wanted = [search.get('connection'), fromPerson].find((id) => ids.includes(id ?? ''));
        const chosen = wanted ?? ids[0];
        if (chosen === undefined)
          return (
            <Text size="md" c="dimmed">
              The settings have no connection.
            </Text>
          );
        return (
          <ConnectionMapping
            key={chosen}
            connection={chosen}
            connections={ids}
            file={data.mappings.find(({ connection }) => connection === chosen)?.file}
            person={fromPerson === chosen && person !== '' ? person : undefined}
            linked={readLinkedRule(search)}
            linkedVersion={Number(search.get('version')) || undefined}
            onConnection={(connection) => setSearch({ connection })}
            onPerson={(id) => setSearch({ person: `${chosen}/${id}` }, { replace: true })}
          />
        );
      }}
    </Loaded>
  );
}

interface ConnectionProps {
  connection: string;
  connections: string[];
  file: string | undefined;
  person: string | undefined;
  /** The rule to which a link has led. */
  linked: LinkedRule | undefined;
  /** The version whose change a link shows. */
  linkedVersion: number | undefined;
  onConnection: (connection: string) => void;
  onPerson: (id: string) => void;
}

function ConnectionMapping(props: ConnectionProps) {
  const { connection } = props;
  // Another admin's change is noticed while this one edits.
  const inForce = useRead('readMapping', { connection }, { refetchInterval: 15_000 });
  return (
    <Loaded query={inForce}>
      {({ text, version }) => <Workbench {...props} savedText={text} version={version} />}
    </Loaded>
  );
}

function Workbench({
  connection,
  savedText,
  version,
  ...props
}: ConnectionProps & { savedText: string; version: ListedMappingVersion | undefined }) {
  const [draft, setDraft] = useDraft(connection);
  const [look, setLook] = useState('table');
  const text = draft?.text ?? savedText;
  const generation = version?.generation ?? 0;
  const change = (next: string) =>
    setDraft(next === savedText ? undefined : { text: next, generation: draft?.generation ?? generation });
  const names = useRead('listMappingNames', { connection });
  const { faults, isChecked, unchecked } = useFaults(connection, text);
  const { example, isUnsent } = useExamplePerson(connection);
  const isFaulty = faults.some(({ severity }) => severity === 'error');
  const editing = { text, faults, names: names.data, onChange: change };
  return (
    <>
      <Head
        {...{ connection, text, version, generation, ...props }}
        isChanged={draft !== undefined}
        canApply={isChecked && !isFaulty && draft !== undefined}
        edited={draft?.generation ?? generation}
        onDiscard={() => setDraft(undefined)}
        onRebase={() => draft && setDraft({ ...draft, generation })}
      />
      <ProposedNotice connection={connection} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="sm" component="section" aria-label="Rules">
            <SegmentedControl
              size="xs"
              w="fit-content"
              aria-label="How the rules are shown"
              value={look}
              onChange={setLook}
              data={toChoices({ table: 'Table', json: 'JSON' })}
            />
            {look === 'json' ? (
              <MappingEditor {...editing} findGroups={(beginning) => findGroupNames(connection, beginning)} />
            ) : (
              <AllRules {...{ connection, linked: props.linked, ...editing }} />
            )}
            <FaultList faults={faults} unchecked={unchecked} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <PersonPanel
            {...{ connection, text, isUnsent }}
            person={props.person ?? example}
            onPerson={props.onPerson}
          />
        </Grid.Col>
      </Grid>
    </>
  );
}

/** The names of groups for completions; none if they cannot be read. */
async function findGroupNames(connection: string, beginning: string): Promise<string[]> {
  try {
    return (await call('findGroupNames', { connection, beginning })).names;
  } catch {
    return [];
  }
}

/** The rules of the mapping as a table, then those that are in force besides. */
function AllRules({
  connection,
  linked,
  ...editing
}: Omit<Parameters<typeof RulesTable>[0], 'chosen' | 'fieldNames'> &
  Pick<ConnectionProps, 'connection' | 'linked'>) {
  const { text, onChange } = editing;
  const others = useRead('listOtherRules', { connection });
  const fieldNames = useFieldNames(connection);
  const chosen = linked ? findLinkedRule(parseRules(text) ?? [], linked, fieldNames) : -1;
  return (
    <>
      <RulesTable {...{ ...editing, connection, chosen, fieldNames }} />
      <Loaded query={others}>
        {({ rules }) => (
          <OtherRules
            {...{ rules, names: fieldNames, text, onChange }}
            chosen={(rule) => chosen < 0 && linked !== undefined && isLinkedRule(rule, linked)}
          />
        )}
      </Loaded>
    </>
  );
}

interface HeadProps extends ConnectionProps {
  text: string;
  version: ListedMappingVersion | undefined;
  /** The generation in force, and the one that the text was edited from. */
  generation: number;
  edited: number;
  isChanged: boolean;
  canApply: boolean;
  onDiscard: () => void;
  onRebase: () => void;
}

function Head(props: HeadProps) {
  const { connection, connections, text, version, generation, edited, isChanged, canApply } = props;
  const canChange = useIsAdmin();
  const [pending, setPending] = useState<{ version?: number }>();
  const [applied, setApplied] = useState<Applied>();
  const restore = (restored: number) => setPending({ version: restored });
  return (
    <>
      <ViewHead
        title="Mapping"
        actions={
          <Group gap="xs">
            {connections.length > 1 && (
              <Select
                aria-label="Connection"
                data={connections}
                value={connection}
                onChange={(id) => id && props.onConnection(id)}
              />
            )}
            <DialogButton label="Versions" size="sm">
              {(close) => <Versions connection={connection} onClose={close} onRestore={restore} />}
            </DialogButton>
            {isChanged && (
              <Button size="sm" onClick={props.onDiscard}>
                Discard my changes
              </Button>
            )}
            {canChange && (
              <Button
                variant="filled"
                size="sm"
                aria-haspopup="dialog"
                disabled={!canApply}
                onClick={() => setPending({})}
              >
                Apply…
              </Button>
            )}
          </Group>
        }
      >
        {version ? (
          <>
            Version {version.number} of {connection}, by {originOf(version)}, <Time at={version.appliedAt} />.
          </>
        ) : (
          `The default rules are in force for ${connection}.`
        )}
        {props.file && ` ${props.file} replaces it when its content changes.`}
        {!canChange && ' Your role is viewer: you can try every change here, and apply none.'}
      </ViewHead>
      {isChanged && version && edited !== generation && (
        <OthersChange {...{ connection, version, onRebase: props.onRebase }} />
      )}
      <MappingProgress {...{ connection, applied }} onClose={() => setApplied(undefined)} />
      {props.linkedVersion !== undefined && (
        <Versions
          {...{ connection, first: props.linkedVersion, onRestore: restore }}
          onClose={() => props.onConnection(connection)}
        />
      )}
      {canApply && <Effect {...{ connection, text, onPerson: props.onPerson }} />}
      {pending && (
        <ApplyDialog
          {...{ connection, text, ...pending, onPerson: props.onPerson }}
          generation={pending.version === undefined ? edited : generation}
          onClose={() => setPending(undefined)}
          onApplied={(done) => {
            setPending(undefined);
            setApplied(done);
            props.onDiscard();
          }}
        />
      )}
    </>
  );
}

function Effect({ connection, text, onPerson }: Pick<HeadProps, 'connection' | 'text' | 'onPerson'>) {
  const [shown] = useDebouncedValue(text, 500);
  const { data, error, isFetching } = useEffectOfMapping(connection, shown, { isEnabled: true });
  if (error) return <Failure error={error} mb="md" title="The effect on everybody cannot be computed" />;
  return (
    <Group mb="md" mih={24}>
      {data ? (
        <EffectLine preview={data} isReading={isFetching || shown !== text} onPerson={onPerson} />
      ) : (
        <Loader size="xs" aria-label="Looking at everybody" />
      )}
    </Group>
  );
}

interface OthersChangeProps {
  connection: string;
  version: ListedMappingVersion;
  onRebase: () => void;
}

/** Another version came into force while the text was edited: shows its change, so that none is lost. */
function OthersChange({ connection, version, onRebase }: OthersChangeProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Alert
      color="yellow"
      mb="md"
      role="alert"
      title={`⚠ ${authorOf(version)} has put version ${version.number} in force since you began`}
    >
      <Text>
        Look at that change and add it to your text. Then continue: your text is compared with version{' '}
        {version.number} from then on, and applying it replaces that version.
      </Text>
      <Group mt="xs" gap="sm">
        <Anchor component="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
          Show the change
        </Anchor>
        <Button size="compact-sm" onClick={onRebase}>
          Continue with my text
        </Button>
      </Group>
      {isOpen && <Versions connection={connection} onClose={() => setOpen(false)} />}
    </Alert>
  );
}

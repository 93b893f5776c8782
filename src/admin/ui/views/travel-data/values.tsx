import { Anchor, Box, Stack, Table, Text } from '@mantine/core';
import { createContext, type ReactNode, useContext } from 'react';
import { Breakable, Dim, Time, ViewLink } from '../../components/text.tsx';
import { isObject, numberText, toWords } from '../../components/texts.ts';
import { isGone, type TravelResource, useTravel } from '../../requests/travel.ts';
import { type Description, fieldLabel, type Schema, titleOf } from './description.ts';
import { localText, moneyText } from './texts.ts';

/** The description of the travel API, for everything below the view. */
export const DescriptionContext = createContext<Description>({
  kinds: new Map(),
  resolve: (schema) => schema,
});

export function useDescription(): Description {
  return useContext(DescriptionContext);
}

/** The name of the resource with an id, as a link to it. */
function Reference({ type, id, isInText }: { type: string; id: string; isInText: boolean }) {
  const path = `${useDescription().kinds.get(type)?.path}/${encodeURIComponent(id)}`;
  const { data, error } = useTravel<{ data: TravelResource }>(path, { staleTime: 60_000 });
  return (
    <ViewLink isInText={isInText} href={path}>
      {isGone(error) ? `${id} (deleted)` : data ? titleOf(data.data) : id}
    </ViewLink>
  );
}

interface ValueProps {
  value: unknown;
  /** Says of which resource an id is. */
  schema: Schema | undefined;
  /** True beside other text in the line. */
  isInText?: boolean;
}

/** A value of a resource as people read it. */
export function Value({ value, schema: given, isInText = false }: ValueProps) {
  const { resolve, kinds } = useDescription();
  const schema = given && resolve(given);
  if (isNoValue(value)) return <Dim>–</Dim>;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return <Values values={value} schema={schema?.items} />;
  if (isObject(value)) {
    const { total, currency, customFieldId, name, values, type, id } = value;
    // A place or a carrier: its other members say where it is.
    if (typeof name === 'string' && !Array.isArray(values) && !kinds.has(String(type))) return name;
    if (typeof total === 'number')
      return <span style={{ whiteSpace: 'nowrap' }}>{moneyText({ total, currency: String(currency) })}</span>;
    if (typeof customFieldId === 'string' && Array.isArray(values))
      return (
        <>
          <ViewLink isInText href={`/custom-fields/${customFieldId}`}>
            {String(name ?? customFieldId)}
          </ViewLink>
          : {values.map(({ displayName, data }) => displayName ?? data).join(', ')}
        </>
      );
    const kind = kinds.get(String(type));
    if (kind && !kind.path.includes('{') && typeof id === 'string')
      return (
        <ViewLink isInText={isInText} href={`${kind.path}/${id}`}>
          {titleOf(value)}
        </ViewLink>
      );
    return <Members value={value} schema={schema} />;
  }
  const text = schema?.enum && /^\w+$/.test(String(value)) ? toWords(String(value)) : String(value);
  if (schema?.['x-resource']) return <Reference type={schema['x-resource']} id={text} isInText={isInText} />;
  if (schema?.format === 'date-time') return <Time at={text} />;
  if (schema?.format === 'uri')
    return (
      <Anchor href={text} target="_blank" rel="noreferrer" underline="always">
        <Breakable text={text} />
      </Anchor>
    );
  return /^\d{4}-\d\d-\d\d(T[\d:]{8})?$/.test(text) ? localText(text) : <Breakable text={text} />;
}

export function isNoValue(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** Texts and links in one line; anything else below each other. */
function Values({ values, schema }: { values: unknown[]; schema: Schema | undefined }) {
  const isInLine = values.every((one) => !isObject(one));
  const parts = values.map((one, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the values have no other identity.
    <Box key={index} component={isInLine ? 'span' : 'div'}>
      {isInLine && index > 0 && ', '}
      <Value value={one} schema={schema} isInText={values.length > 1} />
    </Box>
  ));
  return isInLine ? parts : <Stack gap="xs">{parts}</Stack>;
}

/** The members of an object that is part of a resource. */
function Members({ value, schema }: { value: Record<string, unknown>; schema: Schema | undefined }) {
  const named = Object.entries(value).filter(([name]) => !['type', 'createdAt'].includes(name));
  if (named.length === 0) return <Dim>–</Dim>;
  return (
    <Box pl="sm" style={{ borderLeft: '2px solid var(--mantine-color-default-border)' }}>
      {named.map(([name, member]) => (
        <Text key={name} component="div">
          <Dim>{fieldLabel(name)}: </Dim>
          <Value value={member} schema={schema?.properties?.[name]} isInText />
        </Text>
      ))}
    </Box>
  );
}

/** The fields of a resource, each with its key in grey; then `children`, which are further rows. */
export function Fields({
  resource,
  schema,
  hidden = [],
  children,
}: {
  resource: TravelResource;
  schema: Schema;
  hidden?: string[];
  children?: ReactNode;
}) {
  const all = Object.keys(schema.properties ?? {}).filter(
    (name) => name !== 'type' && name in resource && !hidden.includes(name),
  );
  const names = [...all.filter((name) => !technical.includes(name)), ...technical];
  return (
    <Table aria-label="Fields" layout="fixed">
      <Table.Tbody>
        {names.map((name) => (
          <Field key={name} label={fieldLabel(name)} name={name}>
            <Value value={resource[name]} schema={schema.properties?.[name]} />
          </Field>
        ))}
        {children}
      </Table.Tbody>
    </Table>
  );
}

/** Those that tell least come last. */
const technical = ['id', 'createdAt'];

/** A row of the fields. The key is left out where it is the label. */
export function Field({ label, name, children }: { label: string; name?: string; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th w="30%" fw={500} style={{ verticalAlign: 'top', textAlign: 'left' }}>
        {label}{' '}
        {name && name !== label.toLowerCase() && (
          <span style={{ display: 'inline-block' }}>
            <Dim size="xs">{name}</Dim>
          </span>
        )}
      </Table.Th>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{children}</Table.Td>
    </Table.Tr>
  );
}

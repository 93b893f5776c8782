import { Code, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { OtherRule } from '../../../../operations/mappings/mappings.ts';
import { fieldLabel } from '../../../../provisioning/mapping-changes/value-texts.ts';
import { IconButton } from '../../components/buttons.tsx';
import { Rows } from '../../components/rows.tsx';
import { Breakable, Dim, PathCode, Section } from '../../components/text.tsx';
import { shortUrns, withShortUrns } from '../../components/texts.ts';
import { addRule, sourcesOf } from './rules.ts';

const origins: Record<OtherRule['origin'], string> = { collection: 'travel service', default: 'default' };

const uses: Record<OtherRule['use'], string> = {
  always: 'always',
  otherwise: 'if no condition above holds',
  replaced: 'not used: a rule above sets it',
};

interface OtherRulesProps {
  rules: OtherRule[];
  /** True for the rule to which a link has led. */
  chosen: (rule: OtherRule) => boolean;
  /** The names of custom fields by key. */
  names: Record<string, string>;
  text: string;
  onChange: (text: string) => void;
}

/** The rules that are in force besides those of the mapping. Each can be added to the mapping, to change it there. */
export function OtherRules({ rules, chosen, names, text, onChange }: OtherRulesProps) {
  return (
    <Section title="Rules besides the mapping in force">
      <Rows
        label="Rules besides the mapping"
        rows={rules}
        keyOf={({ origin, field }) => `${origin} ${field}`}
        isChosen={chosen}
        empty="There are none."
        columns={[
          {
            label: 'Sets',
            cell: ({ field }) => (
              <span style={anywhere}>
                <Breakable text={fieldLabel(field, names)} />
              </span>
            ),
            width: '24%',
          },
          { label: 'Reads', cell: (rule) => <Reads rule={rule} />, width: '44%' },
          { label: 'Used', cell: ({ origin, use }) => `${origins[origin]}, ${uses[use]}`, width: '22%' },
          {
            label: 'Add',
            cell: ({ field, written }) =>
              written && (
                <IconButton
                  icon={IconPlus}
                  label={`Copy the rule for ${fieldLabel(field, names)} into the mapping`}
                  onClick={() => onChange(addRule(text, written))}
                />
              ),
            width: '10%',
          },
        ]}
      />
      <ShortUrns />
    </Section>
  );
}

/** Paths have few places to break. */
const anywhere = { overflowWrap: 'anywhere' } as const;

/** The paths that a rule reads, as a mapping could have them, and its further inputs. */
function Reads({ rule: { written, others, setting } }: { rule: OtherRule }) {
  const further = [...others, ...(setting === undefined ? [] : [setting])].map(withShortUrns);
  return (
    <>
      {(written ? sourcesOf(written) : []).map((path) => (
        <div key={path}>
          <PathCode text={withShortUrns(path)} />
        </div>
      ))}
      {further.map((one) => (
        <Text key={one} size="xs" component="div" style={anywhere}>
          {written ? <Dim size="xs">then </Dim> : ''}
          <Breakable text={one} />
        </Text>
      ))}
    </>
  );
}

/** Explains the short names of URNs. */
function ShortUrns() {
  return (
    <Rows
      label="Short names of URNs"
      rows={Object.entries(shortUrns)}
      keyOf={([name]) => name}
      empty="There are none."
      columns={[
        { label: 'Short name', cell: ([name]) => <Code>{name}:</Code>, width: '22%' },
        { label: 'Write', cell: ([, urn]) => <PathCode text={`${urn}:`} /> },
      ]}
    />
  );
}

import { Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { fieldLabel } from '../../../../../model/value-texts.ts';
import type { OtherRule } from '../../../../../operations/mappings/mappings.ts';
import { originTexts } from '../../../../../provisioning/people/person-texts.ts';
import { IconButton } from '../../../components/buttons.tsx';
import { FieldName } from '../../../components/field-name.tsx';
import { Rows } from '../../../components/rows.tsx';
import { Breakable, Dim, Section } from '../../../components/text.tsx';
import { withShortUrns } from '../../../components/texts.ts';
import { parseRules, withRules } from '../rules/rules.ts';
import { InputCell } from './rule-cells.tsx';

const uses: Record<OtherRule['use'], string> = {
  always: 'everybody',
  otherwise: 'whoever no condition above holds for',
  replaced: 'nobody: a rule above sets it',
};

interface OtherRulesProps {
  rules: OtherRule[];
  /** True for the rule to which a link has led. */
  chosen: (rule: OtherRule) => boolean;
  /** The names of custom fields by key. */
  names: Partial<Record<string, string>>;
  text: string;
  onChange: (text: string) => void;
}

/** The rules that are in force besides those of the mapping. Each can be added to the mapping, to change it there. */
export function OtherRules({ rules, chosen, names, text, onChange }: OtherRulesProps) {
  const own = parseRules(text);
  return (
    <Section title="Other rules in force">
      <Rows
        label="Rules besides the mapping"
        rows={rules}
        keyOf={({ origin, field }) => `${origin} ${field}`}
        isChosen={chosen}
        empty="There are none."
        columns={[
          { label: 'Field', cell: ({ field }) => <FieldName {...{ field, names }} />, width: '24%' },
          { label: 'Value', cell: (rule) => <Inputs rule={rule} />, width: '30%' },
          {
            label: 'For whom',
            cell: ({ origin, use }) => (
              <Dim>
                {uses[use]}, {originTexts[origin]}
              </Dim>
            ),
            width: '24%',
          },
          {
            label: 'Change',
            isAction: true,
            cell: ({ field, written }) =>
              written && (
                <IconButton
                  icon={IconPlus}
                  label={`Copy the rule for ${fieldLabel(field, names)} into the mapping`}
                  onClick={() => own && onChange(withRules(text, [...own, written]))}
                />
              ),
            width: '22%',
          },
        ]}
      />
    </Section>
  );
}

/** The paths that a rule reads, as a mapping could have them, and its further inputs. */
function Inputs({ rule: { written, others, setting } }: { rule: OtherRule }) {
  const further = [...others, ...(setting === undefined ? [] : [setting])].map(withShortUrns);
  return (
    <>
      {written && <InputCell rule={written} />}
      {further.map((one) => (
        <Text key={one} size="xs" component="div" style={{ overflowWrap: 'anywhere' }}>
          {written && <Dim size="xs">else </Dim>}
          <Breakable text={one} />
        </Text>
      ))}
    </>
  );
}

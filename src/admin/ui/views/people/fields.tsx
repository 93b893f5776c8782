import { Alert, Text } from '@mantine/core';
import { valueText } from '../../../../model/value-texts.ts';
import type { PersonExplanation, PersonField } from '../../../../operations/people/person.ts';
import { decidingRules, idpValue } from '../../../../provisioning/people/person-texts.ts';
import { FieldName } from '../../components/field-name.tsx';
import { Rows } from '../../components/rows.tsx';
import { Breakable, Dim, StateBadge, ViewLink } from '../../components/text.tsx';
import { ruleHref } from '../mappings/rules/links.ts';
import { appliedDetails } from '../mappings/rules/rule-words.ts';
import { idsIn, ruleText, standingMarks, travelValue, wasThereBefore } from './texts.ts';

/** Each field side by side: what the IdP said, which rule decided, what was sent, what the travel service holds. */
export function FieldTable({ person }: { person: PersonExplanation }) {
  const { fields, names, verdict } = person;
  const value = (one: unknown) => <Value value={one} names={names} />;
  return (
    <>
      {verdict.status === 'waiting' && (
        <Alert color="blue" p="xs" mb="xs" icon="↻">
          As of the last attempt: later changes of the identity provider are not in these values yet.
        </Alert>
      )}
      {verdict.status === 'imported' && (
        <Text c="dimmed" mb="xs">
          The rules apply once an identity provider writes this user. Until then the travel service decides.
        </Text>
      )}
      <Rows
        label="Fields"
        rows={fields}
        keyOf={({ field }) => field}
        columns={[
          {
            label: 'Field',
            width: '18%',
            cell: ({ field }) => <FieldName field={field} names={names} />,
          },
          { label: 'What the IdP said', width: '20%', cell: (field) => value(idpValue(field)) },
          { label: 'Rule', width: '23%', cell: (field) => <Rule field={field} person={person} /> },
          {
            label: 'Sent',
            width: '18%',
            cell: (field) =>
              wasThereBefore(field) ? <Dim>– had it already</Dim> : value(travelValue(field, field.sent)),
          },
          {
            label: 'Travel service holds',
            width: '21%',
            cell: (field) => <Held field={field} names={names} />,
          },
        ]}
        empty="Nothing is known of this person's fields before the first attempt."
      />
    </>
  );
}

type Names = PersonExplanation['names'];

/** A value. The ids for which names are shown appear on hover. */
function Value({ value, names }: { value: unknown; names: Names }) {
  const text = valueText(value, names);
  if (text === '') return <Dim>–</Dim>;
  const ids = idsIn(value, names);
  return (
    <Text
      span
      style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}
      title={ids.join(', ') || undefined}
    >
      <Breakable text={text} />
    </Text>
  );
}

/** The rules that decided. Each leads to the rule in Mappings, with this person as the example. */
function Rule({ field: { field, rules }, person }: { field: PersonField; person: PersonExplanation }) {
  if (rules.length === 0) return <Dim>{person.verdict.status === 'imported' ? '–' : 'no rule'}</Dim>;
  return decidingRules(rules).map((rule) => (
    <Text
      key={`${rule.origin} ${rule.rule} ${rule.when}`}
      component="div"
      style={{ overflowWrap: 'anywhere' }}
    >
      <ViewLink href={ruleHref(person, { ...rule, field })} c="inherit" isInText>
        <Breakable text={ruleText(rule)} />
      </ViewLink>
      <Dim size="xs"> {appliedDetails(withoutTold(rule, person))}</Dim>
    </Text>
  ));
}

/** A finding tells its reason above. */
function withoutTold({ reason, ...rule }: AppliedRule, { findings }: PersonExplanation): AppliedRule {
  const isTold = findings.some((finding) => finding.reason === reason);
  return isTold || reason === undefined ? rule : { ...rule, reason };
}

type AppliedRule = PersonField['rules'][number];

function Held({ field, names }: { field: PersonField; names: Names }) {
  const mark = standingMarks[field.standing];
  return (
    <>
      <Value value={travelValue(field, field.observed)} names={names} />{' '}
      {mark.label && <StateBadge mark={mark} />}
      {field.refusal && (
        <Text component="div" size="xs" c="dimmed">
          {field.refusal}
        </Text>
      )}
    </>
  );
}

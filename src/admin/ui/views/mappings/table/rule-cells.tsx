import { Box, Text } from '@mantine/core';
import { Dim, PathCode } from '../../../components/text.tsx';
import { withShortUrns } from '../../../components/texts.ts';
import { inputOf, stepsText, whomOf, whomText } from '../rules/rule-words.ts';
import type { WrittenRule } from '../rules/rules.ts';

// What a rule does, as the tables of rules show it.

/** From what the value of a field comes, and what is done with it. */
export function InputCell({ rule }: { rule: WrittenRule }) {
  const input = inputOf(rule);
  const steps = stepsText(rule);
  return (
    <Box style={anywhere}>
      {'paths' in input ? (
        input.paths.map((path, at) => (
          <div key={path}>
            {at > 0 && <Dim size="xs">else </Dim>}
            <Path text={path} />
          </div>
        ))
      ) : input.kind === 'fixed' ? (
        <Text>{input.text}</Text>
      ) : (
        <Path text={input.text} />
      )}
      {steps !== '' && (
        <Text size="xs" c="dimmed" component="div">
          then {steps}
        </Text>
      )}
    </Box>
  );
}

/** A path or a filter; the whole names of its URNs appear on hover. */
export function Path({ text }: { text: string }) {
  const short = withShortUrns(text);
  return (
    <span title={short === text ? undefined : text}>
      <PathCode text={short} />
    </span>
  );
}

/** For whom a rule is used. */
export function WhomCell({ when }: { when: unknown }) {
  const { kind } = whomOf(when);
  if (kind === 'everybody') return <Dim>everybody</Dim>;
  if (kind === 'filter') return <Path text={String(when)} />;
  return <span style={anywhere}>{whomText(when)}</span>;
}

/** Paths and values may have no place to break. */
const anywhere = { overflowWrap: 'anywhere' } as const;

import { Box, Text } from '@mantine/core';
import { ViewLink } from '../../components/text.tsx';
import { withLocalTimes } from '../../components/time-texts.ts';
import { Panel } from './panel.tsx';
import { conditionMarks, type Overview } from './texts.ts';

/** Everything that needs attention now, what fails first, each with the place that shows it or the command. */
export function Conditions({ conditions }: Pick<Overview, 'conditions'>) {
  if (conditions.length === 0) return null;
  return (
    <Panel title="Needs attention">
      <Box component="ul" m={0} pl={0} style={{ listStyle: 'none' }}>
        {conditions.map((condition) => (
          <OpenCondition
            key={`${condition.kind} ${condition.connection} ${condition.subject}`}
            condition={condition}
          />
        ))}
      </Box>
    </Panel>
  );
}

function OpenCondition({ condition }: { condition: Overview['conditions'][number] }) {
  const { kind, severity, subject, text, path, command } = condition;
  const { symbol, label } = conditionMarks[severity];
  const isToken = kind === 'tokenEnds' || kind === 'adminTokenEnds';
  return (
    <Text component="li" size="sm" py={2}>
      <span role="img" aria-label={label}>
        {symbol}
      </span>{' '}
      {withLocalTimes(text, Date.now())} {isToken && `It is “${subject}”. `}
      {path !== undefined && path !== '/overview' && (
        <ViewLink href={`~/admin${path}`} inherit isInText>
          Show
        </ViewLink>
      )}
      {command !== undefined && (
        <Text span inherit c="dimmed">
          {' '}
          <code>{command}</code>
        </Text>
      )}
    </Text>
  );
}

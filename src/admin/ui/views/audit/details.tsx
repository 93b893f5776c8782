import { Anchor, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { AuditEntry } from '../../../contract/audit.ts';
import { detailsOf, linksOf, toWords } from './texts.ts';

/** The details of an entry: facts by their names, and links to the changed people or mapping. */
export function Details({ entry }: { entry: AuditEntry }) {
  const facts = detailsOf(entry);
  const links = linksOf(entry);
  return (
    <Group component="ul" p={0} m={0} style={{ listStyle: 'none', gap: '2px 12px' }}>
      {facts.map(({ name, text }) => (
        <Text key={name} component="li" size="sm" style={{ overflowWrap: 'anywhere' }}>
          <Text span c="dimmed" size="sm">
            {toWords(name)}:{' '}
          </Text>
          {text}
        </Text>
      ))}
      {links.map(({ href, label }) => (
        <li key={href}>
          <Anchor component={Link} href={`~/admin${href}`} size="sm">
            {label}
          </Anchor>
        </li>
      ))}
    </Group>
  );
}

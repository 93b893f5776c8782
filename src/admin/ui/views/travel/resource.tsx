import { Code, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Traveler } from '../../../contract/travel-data.ts';
import { personHref, ViewLink } from '../../components/text.tsx';

/** The way back to a list, and the name of one of its resources. */
export function PartHead({ list, label, children }: { list: string; label: string; children: ReactNode }) {
  return (
    <>
      <ViewLink href={list}>← {label}</ViewLink>
      <Title order={2} size="h4" mb="md" style={{ overflowWrap: 'anywhere' }}>
        {children}
      </Title>
    </>
  );
}

/** The names of travelers. A person whom an identity provider sends is a link. */
export function TravelerNames({ travelers }: { travelers: Traveler[] }) {
  return travelers.map(({ id, name, person }, index) => (
    <span key={id}>
      {index > 0 && ', '}
      {person ? (
        <ViewLink isInText href={personHref(person.connection, person.id)}>
          {name}
        </ViewLink>
      ) : (
        name
      )}
    </span>
  ));
}

/** A resource as the travel API answers it. */
export function ResourceText({ resource, path }: { resource: object; path: string }) {
  return (
    <details>
      <Text component="summary" size="sm" style={{ cursor: 'pointer', overflowWrap: 'anywhere' }}>
        As GET {path} answers it
      </Text>
      <Code block mt="xs" tabIndex={0}>
        {JSON.stringify(resource, null, 2)}
      </Code>
    </details>
  );
}

import { Anchor, Group, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useRouter } from 'wouter';
import { helpAddress } from '../help.ts';
import { ViewLink } from './text.tsx';

interface ViewHeadProps {
  title: string;
  /** The list to which the shown thing belongs. */
  back?: { href: string; label: string };
  children?: ReactNode;
  actions?: ReactNode;
}

/** The heading of a view with its help, a sentence under it, and its buttons. Sets the title of the tab. */
export function ViewHead({ title, back, children, actions }: ViewHeadProps) {
  useDocumentTitle(`${title} · Jetbridge`);
  return (
    <>
      {back && <ViewLink href={back.href}>← {back.label}</ViewLink>}
      <Group justify="space-between" align="flex-start" mb="md">
        <div style={{ flex: '1 1 200px', minWidth: 0 }}>
          <Group gap="sm" align="baseline" wrap="nowrap">
            <Title order={1} size="h3" style={{ overflowWrap: 'anywhere' }}>
              <bdi>{title}</bdi>
            </Title>
            <HelpLink />
          </Group>
          {children && (
            <Text c="dimmed" component="div">
              {children}
            </Text>
          )}
        </div>
        {actions}
      </Group>
    </>
  );
}

/** Leads to the document about the present view, in a tab of its own. */
export function HelpLink() {
  const { base } = useRouter();
  const address = helpAddress(base.replace(/^\/admin/, ''));
  if (address === undefined) return null;
  return (
    <Anchor href={address} target="_blank">
      Help
    </Anchor>
  );
}

/** Links to the places of a view in one row. On a narrow screen it is scrolled, at first to the present place. */
export function PlaceTabs({ places }: { places: { href: string; label: string; isHere: boolean }[] }) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    row.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, []);
  return (
    <Group ref={row} component="nav" aria-label="Places of the view" className="place-tabs">
      {places.map(({ href, label, isHere }) => (
        <Link key={href} href={href} {...(isHere && { 'aria-current': 'page' })}>
          {label}
        </Link>
      ))}
    </Group>
  );
}

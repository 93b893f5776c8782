import {
  Alert,
  AppShell,
  Badge,
  Box,
  Button,
  Group,
  Kbd,
  Menu,
  NavLink,
  Table,
  Text,
  UnstyledButton,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { type HotkeyItem, useHotkeys } from '@mantine/hooks';
import { IconDots, IconMoon, IconSun } from '@tabler/icons-react';
import { Component, type ReactNode, Suspense, useRef, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import type { Session } from '../../sign-in/sign-in.ts';
import { IconButton } from '../components/buttons.tsx';
import { Dialog } from '../components/dialogs.tsx';
import { LoadingView } from '../components/loading.tsx';
import { useIsNarrow } from '../components/narrow.ts';
import { PersonBox } from '../components/person-box.tsx';
import { PlaceTabs } from '../components/view-head.tsx';
import { signOut } from '../requests/session.ts';
import { groups, type Place, type View, views } from '../views.tsx';
import { Mark } from './mark.tsx';

/** Navigation, header and the view at the present address. */
export function Frame({ session }: { session: Session }) {
  const isNarrow = useIsNarrow();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const here = usePresent();
  const toTab = ({ path, label }: Place) => ({ href: path, label, isHere: path === here.path });
  useViewKeys();
  usePageKeys([['shift+?', () => setHelpOpen(true)]]);
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 190, breakpoint: 'sm', collapsed: { mobile: true } }}
      footer={{ height: 56, collapsed: !isNarrow }}
      padding="md"
    >
      <a className="skip-link" href="#view">
        Skip to the view
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Mark />
          <PeopleSearch isNarrow={isNarrow} />
          <Group gap="xs" wrap="nowrap">
            <ColorSchemeButton />
            <SessionMenu session={session} onHelp={() => setHelpOpen(true)} />
          </Group>
        </Group>
      </AppShell.Header>
      {isNarrow ? (
        <AppShell.Footer component="div">
          <BottomBar />
        </AppShell.Footer>
      ) : (
        <AppShell.Navbar p="xs" component="div">
          <SideNavigation />
        </AppShell.Navbar>
      )}
      <AppShell.Main id="view" tabIndex={-1}>
        <ErrorBoundary>
          {here.places.length > 1 && <PlaceTabs places={here.places.map(toTab)} />}
          <Suspense fallback={<LoadingView />}>
            <Switch>
              {placesByPath.map(({ path, content }) => (
                <Route key={path} path={path} component={content} nest />
              ))}
              <Redirect to="/overview" replace />
            </Switch>
          </Suspense>
        </ErrorBoundary>
      </AppShell.Main>
      {isHelpOpen && <KeyHelp onClose={() => setHelpOpen(false)} />}
    </AppShell>
  );
}

/** `g` and then the key of a view opens it. */
function useViewKeys(): void {
  const [, navigate] = useLocation();
  const pressedG = useRef(0);
  usePageKeys([
    [
      'g',
      () => {
        pressedG.current = Date.now();
      },
    ],
    ...views.map(({ key, places: [{ path }] }): [string, () => void] => [
      key,
      () => {
        if (Date.now() - pressedG.current < SEQUENCE_MS) navigate(path);
      },
    ]),
  ]);
}

/** Keys that work everywhere on the page, but not while the user types, nor in an open dialog or menu. */
function usePageKeys(keys: [key: string, action: () => void][]): void {
  useHotkeys(keys.map(([key, action]): HotkeyItem => [key, () => isOverlayOpen() || action()]));
}

function isOverlayOpen(): boolean {
  return document.querySelector('[role=dialog], [role=menu]') !== null;
}

/** The longest time between the two keys, in milliseconds. */
const SEQUENCE_MS = 1500;

function SideNavigation() {
  const isActive = useIsActive();
  return (
    <nav aria-label="Views">
      {groups.map((group) => (
        <Box key={group.label ?? ''} mb="sm">
          {group.label && (
            <Text size="xs" c="dimmed" px="sm" pb={2}>
              {group.label}
            </Text>
          )}
          {group.views.map((view) => (
            <NavLink
              key={view.label}
              component={Link}
              href={view.places[0].path}
              label={view.label}
              leftSection={<view.icon size={18} stroke={1.5} />}
              rightSection={view.useCount && <CountBadge useCount={view.useCount} />}
              active={isActive(view)}
              // The colour of the active row has too little contrast while the pointer is over it.
              c="var(--mantine-color-text)"
              aria-current={isActive(view) ? 'page' : undefined}
              style={{ borderRadius: 'var(--mantine-radius-default)' }}
              py={5}
            />
          ))}
        </Box>
      ))}
    </nav>
  );
}

/** All places; one whose address begins with that of another comes before it. */
const placesByPath = views
  .flatMap(({ places }) => places)
  .toSorted((one, other) => other.path.length - one.path.length);

/** The present address, and the places of its view. */
function usePresent(): { path: string | undefined; places: readonly Place[] } {
  const [location] = useLocation();
  const place = placesByPath.find(({ path }) => `${location}/`.startsWith(`${path}/`));
  const view = views.find(({ places }) => places.some(({ path }) => path === place?.path));
  return { path: place?.path, places: view?.places ?? [] };
}

/** Returns a function that says whether the present address is in a view. */
function useIsActive(): (view: View) => boolean {
  const { places: present } = usePresent();
  return ({ places }) => places === present;
}

/** The views that are looked at most, and a menu with the others. */
function BottomBar() {
  const isActive = useIsActive();
  const others = views.filter(({ isInBar }) => !isInBar);
  return (
    <Group component="nav" aria-label="Views" h="100%" px={4} gap={0} grow wrap="nowrap">
      {views
        .filter(({ isInBar }) => isInBar)
        .map((view) => (
          <BarLink key={view.label} view={view} isActive={isActive(view)} />
        ))}
      <Menu position="top-end">
        <Menu.Target>
          <UnstyledButton ta="center" {...activeColor(others.some(isActive))}>
            <BarEntry icon={IconDots} label="More" />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          {others.map(({ places: [{ path }], label, icon: Icon }) => (
            <Menu.Item key={path} component={Link} href={path} leftSection={<Icon size={18} stroke={1.5} />}>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

function BarLink({ view: { places, label, icon, useCount }, isActive }: { view: View; isActive: boolean }) {
  return (
    <UnstyledButton
      component={Link}
      href={places[0].path}
      ta="center"
      {...activeColor(isActive)}
      aria-current={isActive ? 'page' : undefined}
    >
      <BarEntry icon={icon} label={label}>
        {useCount && <CountBadge useCount={useCount} />}
      </BarEntry>
    </UnstyledButton>
  );
}

function BarEntry({ icon: Icon, label, children }: Pick<View, 'icon' | 'label'> & { children?: ReactNode }) {
  return (
    <>
      <Box lh={1}>
        <Icon size={20} stroke={1.5} />
        {children}
      </Box>
      <Text size="10px" truncate>
        {label}
      </Text>
    </>
  );
}

function activeColor(isActive: boolean): { c?: string } {
  return isActive ? { c: 'var(--mantine-primary-color-text)' } : {};
}

/** The number of things in a view that wait for an admin; nothing if there are none. */
function CountBadge({ useCount }: { useCount: () => number | undefined }) {
  const count = useCount();
  if (!count) return null;
  return (
    <Badge
      size="sm"
      variant="light"
      color="yellow"
      c="var(--mantine-color-text)"
      px={6}
      aria-label={`${count} ${count === 1 ? 'waits' : 'wait'}`}
    >
      {compact.format(count)}
    </Badge>
  );
}

const compact = new Intl.NumberFormat('en', { notation: 'compact' });

function ColorSchemeButton() {
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme('light', { getInitialValueInEffect: false }) === 'dark';
  return (
    <IconButton
      icon={isDark ? IconSun : IconMoon}
      iconSize={18}
      label={isDark ? 'Use light colours' : 'Use dark colours'}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    />
  );
}

function SessionMenu({ session, onHelp }: { session: Session; onHelp: () => void }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <UnstyledButton px="xs" aria-label={`Signed in as ${session.name}`}>
          <Text truncate maw={120}>
            {session.name} ▾
          </Text>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Role: {session.role}</Menu.Label>
        <Menu.Item component={Link} href="/access">
          Sessions
        </Menu.Item>
        <Menu.Item aria-haspopup="dialog" onClick={onHelp}>
          Keys
        </Menu.Item>
        <Menu.Item component="a" href="/admin/api/openapi.json">
          Description of the API
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Lists the keys. */
function KeyHelp({ onClose }: { onClose: () => void }) {
  const keys: [string[], string][] = [
    ...views.map(({ key, label }): [string[], string] => [['g', key], `Go to ${label}`]),
    [['/'], 'Search people'],
    [['?'], 'Show this list'],
  ];
  return (
    <Dialog onClose={onClose} title="Keys">
      <Table
        data={{
          body: keys.map(([pressed, text]) => [
            pressed.map((key) => (
              <Kbd key={key} mr={4}>
                {key}
              </Kbd>
            )),
            text,
          ]),
        }}
      />
    </Dialog>
  );
}

/** Finds a person and opens the view of the person. The key `/` leads here. */
function PeopleSearch({ isNarrow }: { isNarrow: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  const [, navigate] = useLocation();
  const focus = () => input.current?.focus();
  usePageKeys([
    ['/', focus],
    // Some keyboards have the character on the upper half of a key.
    ['shift+/', focus],
  ]);
  return (
    <PersonBox
      label="Search people"
      {...(isNarrow && { placeholder: 'Search' })}
      input={input}
      style={{ width: 320, maxWidth: '100%' }}
      rightSection={!isNarrow && <Kbd size="xs">/</Kbd>}
      onChoose={({ connection, id }) => navigate(`/people/${connection}/${id}`)}
      onAll={(search) => navigate(`/people?${new URLSearchParams({ search })}`)}
    />
  );
}

/** Shows a fault of a view in place of the view, so that the navigation stays usable. */
class ErrorBoundary extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Alert color="red" role="alert" title="This view has failed">
        {error.message}
        <Button mt="sm" onClick={() => this.setState({ error: undefined })}>
          Try again
        </Button>
      </Alert>
    );
  }
}

import {
  Alert,
  Button,
  Center,
  Code,
  Divider,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { submits } from '../components/dialogs.tsx';
import { Failure } from '../components/loading.tsx';
import type { Input } from '../requests/api.ts';
import { readSignInNotice, signIn, takeSignInFailure, useSignInWays } from '../requests/session.ts';
import { Mark } from './mark.tsx';

/** The ways to sign in. */
export function SignIn() {
  const [notice] = useState(readSignInNotice);
  const [failed] = useState(takeSignInFailure);
  const attempt = useMutation({ mutationFn: signIn });
  const { openid, failure, password = true } = useSignInWays(failed) ?? {};
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="xl" w={380} maw="100%">
        <Stack>
          <Title order={1} size="h3">
            <Mark size={28} />
          </Title>
          {notice !== undefined && (
            <Alert color="gray" role="status">
              {notice}
            </Alert>
          )}
          {failure !== undefined && !attempt.error && (
            <Alert color="red" role="alert" title="Not signed in">
              {failure}
            </Alert>
          )}
          {openid && <OpenidButton label={openid.label} />}
          {openid && password && <Divider label="or with a password" />}
          {password && <PasswordForm attempt={attempt} />}
        </Stack>
      </Paper>
    </Center>
  );
}

/**
 * The form keeps the name and the password when an attempt fails. The focus is in the name at first, and in the password after a failure; what
 * is typed there replaces the old text.
 */
function PasswordForm({ attempt }: { attempt: UseMutationResult<void, Error, Input<'signIn'>> }) {
  const [name, setName] = useState('admin');
  const [password, setPassword] = useState('');
  const [nameInput, passwordInput] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)];
  useEffect(() => {
    (attempt.error ? passwordInput : nameInput).current?.select();
  }, [attempt.error, nameInput, passwordInput]);
  return (
    <form onSubmit={submits(() => attempt.mutate({ name, password }))}>
      <Stack>
        <Failure error={attempt.error} title="Not signed in" />
        <TextInput
          ref={nameInput}
          label="Name"
          autoComplete="username"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          required
        />
        <PasswordInput
          ref={passwordInput}
          label="Password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          required
        />
        <Button variant="filled" size="sm" type="submit" loading={attempt.isPending}>
          Sign in
        </Button>
        <Text c="dimmed">
          The first start of the service prints the password of admin. If it is lost, set{' '}
          <Code>ADMIN_PASSWORD</Code> and start again.
        </Text>
      </Stack>
    </form>
  );
}

/** Leads to the OpenID provider, and from there to the address at which the person is now. */
function OpenidButton({ label }: { label: string }) {
  const { pathname, search, hash } = window.location;
  const query = new URLSearchParams({ returnTo: pathname + search + hash });
  return (
    <Button size="sm" component="a" href={`/admin/api/sign-in/openid?${query}`}>
      Sign in with {label}
    </Button>
  );
}

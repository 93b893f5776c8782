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
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, call, readSignInNotice, signIn, takeSignInFailure } from './session.ts';

/** The form to sign in. What was typed stays when an attempt fails. */
export function SignIn() {
  const [name, setName] = useState('admin');
  const [password, setPassword] = useState('');
  const attempt = useMutation({ mutationFn: () => signIn({ name, password }) });
  const [notice] = useState(readSignInNotice);
  const [failed] = useState(takeSignInFailure);
  const ways = useQuery({
    queryKey: ['sign-in', failed],
    queryFn: () => call(api.session.describeSignIn(failed ? { failure: failed } : {})),
  });
  const { openid, failure } = ways.data ?? {};
  const submit = (event: FormEvent) => {
    event.preventDefault();
    attempt.mutate();
  };
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p="xl" w={380} maw="100%">
        <form onSubmit={submit}>
          <Stack>
            <Title order={1} size="h3">
              Jetbridge
            </Title>
            {notice !== undefined && (
              <Alert color="green" role="status">
                {notice}
              </Alert>
            )}
            {failure !== undefined && !attempt.error && (
              <Alert color="red" role="alert" title="Not signed in">
                {failure}
              </Alert>
            )}
            {openid && <OpenidButton label={openid.label} />}
            {attempt.error && (
              <Alert color="red" role="alert" title="Not signed in">
                {attempt.error.message}
              </Alert>
            )}
            <TextInput
              label="Name"
              autoComplete="username"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              required
            />
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              value={password}
              onChange={(event) => setPassword(event.currentTarget.value)}
              data-autofocus
              required
            />
            <Button type="submit" loading={attempt.isPending}>
              Sign in
            </Button>
            <Text size="sm" c="dimmed">
              The first start of the service prints the password. If it is lost:{' '}
              <Code>npx jetbridge admins reset admin</Code>
            </Text>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}

/** Leads to the OpenID provider, and from there to the address at which the person is now. */
function OpenidButton({ label }: { label: string }) {
  const { pathname, search, hash } = window.location;
  const query = new URLSearchParams({ returnTo: pathname + search + hash });
  return (
    <>
      <Button component="a" href={`/admin/api/sign-in/openid?${query}`} variant="default">
        Sign in with {label}
      </Button>
      <Divider label="or with a password" />
    </>
  );
}

import {
  Alert,
  Button,
  Center,
  Code,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { readSignInNotice, signIn } from './session.ts';

/** The form to sign in. What was typed stays when an attempt fails. */
export function SignIn() {
  const [name, setName] = useState('admin');
  const [password, setPassword] = useState('');
  const attempt = useMutation({ mutationFn: () => signIn({ name, password }) });
  const [notice] = useState(readSignInNotice);
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

import { failureReferences } from './answers.ts';
import { answerOf, type Described, type Documented } from './operation.ts';
import { webhookOperations } from './webhook-operations.ts';

/** The operations that no declaration stands for. */
export function extraOperations(documented: Documented[], tag: string): Described[] {
  const user = documented.find(({ resource }) => resource.type === 'user');
  if (!user) return [];
  return [
    {
      path: '/api/whoami',
      method: 'get',
      operation: {
        operationId: 'whoami',
        summary: 'Retrieve the user of the credential',
        tags: [tag],
        responses: { 200: answerOf(user, 'The user'), ...failureReferences([400, 401, 500, 503]) },
      },
    },
    ...webhookOperations(documented),
  ];
}

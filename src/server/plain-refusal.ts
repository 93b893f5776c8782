import type { NextFunction, Request, Response } from 'express';
import { areaOf } from '../http/app.ts';
import { answerError, ScimError } from '../scim/errors.ts';
import { ApiError, errorBody } from '../travel/errors.ts';

const text = 'Plain HTTP is refused here, as it can be read on the way. Use https.';

/** Answers a request that came in plain where HTTPS is required: 403, in the form of the part that was asked. */
export function refusePlain(request: Request, response: Response, next: NextFunction): void {
  switch (areaOf(request.path.toLowerCase())) {
    case 'scim':
      answerError(new ScimError(403, undefined, text), request, response, next);
      return;
    case 'api': {
      const error = new ApiError('forbidden', text);
      response.status(error.status).json(errorBody(error));
      return;
    }
    case 'oauth':
      response.status(403).json({ error: 'invalid_request', error_description: text });
      return;
    default:
      response.status(403).json({ error: text });
  }
}

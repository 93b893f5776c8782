import { Agent, request } from 'node:http';

/** A client with so many keep-alive connections; `send` answers status, content type and text. */
export function client(connections) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' });
  return {
    send: (base, token, request) => send(agent, `${base}${request.path}`, { ...request, token }),
    close: () => agent.destroy(),
  };
}

function send(agent, url, { method = 'GET', body, token, mediaType = 'application/scim+json' }) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = { authorization: `Bearer ${token}` };
  if (text !== undefined) {
    headers['content-type'] = mediaType;
    headers['content-length'] = Buffer.byteLength(text);
  }
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method, headers }, (response) => {
      let answer = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        answer += chunk;
      });
      response.once('error', reject);
      response.once('end', () => {
        resolve({ status: response.statusCode, type: response.headers['content-type'], text: answer });
      });
    });
    sent.once('error', reject);
    sent.end(text);
  });
}

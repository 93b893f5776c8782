import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:tls';

/** An answer, with its body as JSON where it is some. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

/** What is sent, and the certificate that is trusted. */
export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  ca?: string;
}

/** Sends one request on a connection of its own, by HTTP or HTTPS as the URL says. */
export function ask(url: string, { method = 'GET', headers = {}, body, ca }: Sent = {}): Promise<Answer> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = send(
      url,
      { method, headers, agent: false, ...(ca === undefined ? {} : { ca }) },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () => {
          const isJson = /json/.test(answer.headers['content-type'] ?? '');
          const { statusCode: status = 0, headers: told } = answer;
          resolve({ status, headers: told, body: isJson ? JSON.parse(text) : text });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The certificate that a server shows, as PEM without line ends. */
export function shownCertificate(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().raw.toString('base64'));
      socket.end();
    });
    socket.on('error', reject);
  });
}

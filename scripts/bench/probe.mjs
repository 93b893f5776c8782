// Preloaded into every measured process: reports its CPU time, its memory and its use of the database on request, and ends it when the bench
// has ended.
import { register } from 'node:module';
import { Socket } from 'node:net';
import { counts } from './counts.mjs';

register('./sqlite-hooks.mjs', import.meta.url);
const url = process.env.DATABASE_URL;
if (url) countSends(Number(new URL(url).port || 5432));

process.on('message', (message) => {
  if (message !== 'usage') return;
  const { user, system } = process.cpuUsage();
  // maxRSS is in kilobytes, on every platform.
  const memory = { resident: process.memoryUsage.rss(), peak: process.resourceUsage().maxRSS * 1024 };
  process.send({ usage: { cpu: user + system, ...memory, ...counts } });
});
process.on('disconnect', () => process.exit());
// The channel to the bench does not keep the program alive.
process.channel.unref();

function countSends(port) {
  const { connect } = Socket.prototype;
  Socket.prototype.connect = function connectAndCount(...parameters) {
    this.once('connect', () => {
      if (this.remotePort === port) countWrites(this);
    });
    return connect.apply(this, parameters);
  };
}

function countWrites(socket) {
  for (const name of ['_write', '_writev']) {
    const send = socket[name];
    socket[name] = (...parameters) => {
      counts.sends += 1;
      return send.apply(socket, parameters);
    };
  }
}

// Preloaded into every measured process: reports the CPU time and memory of the process on request, and ends it when the bench has ended.
process.on('message', (message) => {
  if (message !== 'usage') return;
  const { user, system } = process.cpuUsage();
  // maxRSS is in kilobytes, on every platform.
  const memory = { resident: process.memoryUsage.rss(), peak: process.resourceUsage().maxRSS * 1024 };
  process.send({ usage: { cpu: user + system, ...memory } });
});
process.on('disconnect', () => process.exit());
// The channel to the bench does not keep the program alive.
process.channel.unref();

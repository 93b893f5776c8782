// Preloaded into every measured process: answers, when asked, what the process has used; ends it when nobody asks any more.
process.on('message', (message) => {
  if (message !== 'usage') return;
  const { user, system } = process.cpuUsage();
  // maxRSS is in kilobytes, on every platform.
  const memory = { resident: process.memoryUsage.rss(), peak: process.resourceUsage().maxRSS * 1024 };
  process.send({ usage: { cpu: user + system, ...memory } });
});
process.on('disconnect', () => process.exit());
// The measured program decides for itself how long it runs.
process.channel.unref();

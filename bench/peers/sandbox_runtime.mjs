// One round a line of standard input: run /bin/true in Anthropic's sandbox-runtime, print microseconds.
import { createInterface } from "node:readline";
import { spawn } from "node:child_process";
import { SandboxManager } from "@anthropic-ai/sandbox-runtime";

const workspace = process.argv[2];
await SandboxManager.initialize({
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: [], allowWrite: [workspace], denyWrite: [] },
});

async function once() {
  const begun = process.hrtime.bigint();
  const wrapped = await SandboxManager.wrapWithSandbox("/bin/true");
  const child = spawn(wrapped, { shell: true, cwd: workspace, stdio: "ignore" });
  const status = await new Promise((done) => child.on("exit", done));
  if (status !== 0) throw new Error(`status ${status}`);
  return Number(process.hrtime.bigint() - begun) / 1000;
}

await once();
console.log("ready");
for await (const _ of createInterface({ input: process.stdin })) console.log(await once());
await SandboxManager.reset();
process.exit(0);

// client.js - a client of the language server protocol, over a process's standard input and output.
//
// In: requests and notices. Out: a promise for each answer; what the server says by itself goes to a function.
const { spawn } = require("child_process");

class Client {
    constructor(tool, words, onNotice) {
        Object.assign(this, { tool, words, onNotice, onError: () => {}, next: 1, waiting: new Map(),
            input: Buffer.alloc(0) });
    }

    async start() {
        this.process = spawn(this.tool, this.words, { stdio: ["pipe", "pipe", "inherit"] });
        this.process.on("error", (why) => this.fail(why.message));
        this.process.on("exit", (code) => this.fail(`it ended with status ${code}`));
        this.process.stdin.on("error", () => {});
        this.process.stdout.on("data", (data) => this.read(data));
        await this.request("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
        this.notify("initialized", {});
    }

    async stop() {
        this.onError = () => {};
        await this.request("shutdown");
        this.notify("exit");
    }

    fail(why) {
        for (const { reject } of this.waiting.values()) reject(new Error(why));
        this.waiting.clear();
        this.onError(why);
    }

    send(message) {
        const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
        this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
        this.process.stdin.write(body);
    }

    notify(method, params) {
        this.send({ method, params });
    }

    request(method, params) {
        const id = this.next++;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { resolve, reject });
            this.send({ id, method, params });
        });
    }

    read(data) {
        this.input = Buffer.concat([this.input, data]);
        for (;;) {
            const end = this.input.indexOf("\r\n\r\n");
            const length = end < 0 ? 0 : Number(/Content-Length: (\d+)/.exec(this.input.toString("latin1", 0, end))[1]);
            if (end < 0 || this.input.length < end + 4 + length) return;
            const message = JSON.parse(this.input.toString("utf8", end + 4, end + 4 + length));
            this.input = this.input.subarray(end + 4 + length);
            this.take(message);
        }
    }

    take(message) {
        const asked = this.waiting.get(message.id);
        this.waiting.delete(message.id);
        if (!asked) this.onNotice(message.method, message.params);
        else if (message.error) asked.reject(new Error(message.error.message));
        else asked.resolve(message.result);
    }
}

exports.Client = Client;

"""torch: save, load, load by a map, and saved over the old file."""

import shared
import torch


def write():
    model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(24)])
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.from_numpy(shared.numbers(i, parameter.numel())).reshape(parameter.shape))
    torch.save(model.state_dict(), "m.pt")
    torch.save({"model": model.state_dict(), "step": 1}, "m.pt")


def read():
    for mapped in False, True:
        loaded = torch.load("m.pt", mmap=mapped, weights_only=True)
        print(loaded["step"])
        for name, tensor in loaded["model"].items():
            shared.show(name, tensor.numpy().copy())
    return shared.size("m.pt")


shared.main(write, read)

"""Names volumes for csi-sanity, which wants a controller; the driver has none: controller.py SOCKET ENDPOINT"""

import concurrent.futures
import sys

import csi_pb2 as csi
import csi_pb2_grpc
import grpc


class Controller(csi_pb2_grpc.ControllerServicer):
    def ControllerGetCapabilities(self, request, context):
        kind = csi.ControllerServiceCapability.RPC.CREATE_DELETE_VOLUME
        capability = csi.ControllerServiceCapability(rpc=csi.ControllerServiceCapability.RPC(type=kind))
        return csi.ControllerGetCapabilitiesResponse(capabilities=[capability])

    def CreateVolume(self, request, context):
        volume = csi.Volume(volume_id=request.name, volume_context={"bucket": "data", "endpoint": sys.argv[2]})
        return csi.CreateVolumeResponse(volume=volume)

    def DeleteVolume(self, request, context):
        return csi.DeleteVolumeResponse()


class Identity(csi_pb2_grpc.IdentityServicer):
    def Probe(self, request, context):
        return csi.ProbeResponse()


server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
csi_pb2_grpc.add_ControllerServicer_to_server(Controller(), server)
csi_pb2_grpc.add_IdentityServicer_to_server(Identity(), server)
server.add_insecure_port("unix://" + sys.argv[1])
server.start()
server.wait_for_termination()
